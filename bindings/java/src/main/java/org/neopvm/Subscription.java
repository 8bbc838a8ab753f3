// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/** Events that were asked for. Closing it asks no more; an event that is under way may still come. */
@FunctionalInterface
public interface Subscription extends AutoCloseable {
    @Override
    void close();
}
