// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * The hosts on which tasks are started.
 *
 * @param flags the sum of flags of {@code pvm_spawn}
 * @param where a host or an architecture, or null
 */
public record Place(int flags, String where) {
    private static final int ON_HOST = 1;
    private static final int ON_ARCH = 2;
    private static final int COMPLEMENT = 32;
    private static final int LEAST_LOADED_FLAG = 65536;

    /** Hosts that the machine chooses. */
    public static final Place ANYWHERE = new Place(0, null);
    /** The hosts with the fewest tasks for their cores and speed. */
    public static final Place LEAST_LOADED = new Place(LEAST_LOADED_FLAG, null);
    /** The host of this task. */
    public static final Place HERE = host(".");

    /** Returns the place for one host. */
    public static Place host(String name) {
        return new Place(ON_HOST, name);
    }

    /** Returns the place for hosts of an architecture, such as {@code LINUX64}. */
    public static Place arch(String name) {
        return new Place(ON_ARCH, name);
    }

    /** Returns the complement: all hosts except those of this place. */
    public Place elsewhere() {
        return new Place(flags ^ COMPLEMENT, where);
    }
}
