// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A task of the machine.
 *
 * @param tid its id
 * @param parent the task that spawned it, or a negative number of {@link Code}
 * @param host the id of its host's daemon
 * @param flags as {@code ti_flag} of {@code pvm3.h}
 * @param pid its process on its host
 * @param program its program, empty where it was not spawned
 */
public record TaskInfo(int tid, int parent, int host, int flags, int pid, String program) {}
