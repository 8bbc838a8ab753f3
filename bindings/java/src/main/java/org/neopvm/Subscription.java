// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A request for events. Closing it withdraws the request; an event that is in progress may still
 * arrive.
 */
@FunctionalInterface
public interface Subscription extends AutoCloseable {
    @Override
    void close();
}
