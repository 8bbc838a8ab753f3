// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A host of the machine.
 *
 * @param tid the id of the host's daemon
 * @param name the name
 * @param arch the architecture, such as {@code LINUX64}
 * @param speed the relative speed; the first host has 1000
 * @param signature the data format: hosts with equal numbers need no conversion
 * @param cores the number of processor cores, 0 if it is not known
 */
public record HostInfo(int tid, String name, String arch, int speed, int signature, int cores) {}
