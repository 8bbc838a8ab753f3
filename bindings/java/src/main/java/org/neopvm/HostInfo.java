// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A host of the machine.
 *
 * @param tid its daemon's id
 * @param name its name
 * @param arch its architecture, as {@code LINUX64}
 * @param speed relative speed, 1000 unless configured
 * @param signature its data representation: hosts with the same number need no conversion
 * @param cores its processor cores, 0 where it is not known
 */
public record HostInfo(int tid, String name, String arch, int speed, int signature, int cores) {}
