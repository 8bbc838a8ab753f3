// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A host has left the machine or is lost, and its tasks with it.
 *
 * @param host which, as it was
 */
public record HostGone(HostInfo host) {}
