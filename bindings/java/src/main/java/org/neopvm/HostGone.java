// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A host has left the machine or is lost, and its tasks with it.
 *
 * @param host the host, as it was before
 */
public record HostGone(HostInfo host) {}
