// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.MemorySegment;
import org.neopvm.engine.Kind;

/** A message whose items can be read where they lie. */
public interface Lying {
    /** As {@link org.neopvm.engine.Incoming#view}, without a limit to the size. */
    MemorySegment segment(Kind kind, long count);
}
