// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * Where tasks are started.
 *
 * @param flags of {@code pvm_spawn}, added up
 * @param where a host or an architecture, or null
 */
public record Place(int flags, String where) {
    private static final int ON_HOST = 1;
    private static final int ON_ARCH = 2;
    private static final int COMPLEMENT = 32;
    private static final int LEAST_LOADED_FLAG = 65536;

    /** Where the machine likes. */
    public static final Place ANYWHERE = new Place(0, null);
    /** On the hosts with the fewest tasks for their cores and speed. */
    public static final Place LEAST_LOADED = new Place(LEAST_LOADED_FLAG, null);
    /** On this task's own host. */
    public static final Place HERE = host(".");

    /** On one host. */
    public static Place host(String name) {
        return new Place(ON_HOST, name);
    }

    /** On hosts of an architecture, as {@code LINUX64}. */
    public static Place arch(String name) {
        return new Place(ON_ARCH, name);
    }

    /** Everywhere but there. */
    public Place elsewhere() {
        return new Place(flags ^ COMPLEMENT, where);
    }
}
