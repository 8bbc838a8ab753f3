// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.nio.ByteBuffer;

/** Memory that this task exposes, as it lies in this process. */
public interface Exposure extends AutoCloseable {
    /**
     * A part of it, in this computer's order of bytes. After {@link #close} its use throws {@link IllegalStateException}, and
     * this {@link org.neopvm.Code#NOT_FOUND}.
     */
    ByteBuffer buffer(long offset, int bytes);

    /** Exposes it no more. A second time it does nothing. */
    @Override
    void close();
}
