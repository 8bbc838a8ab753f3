// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A task of the machine.
 *
 * @param tid the id of the task
 * @param parent the task that spawned it, or a negative number of {@link Code}
 * @param host the id of the host
 * @param flags the flags, as {@code ti_flag} of {@code pvm3.h}
 * @param pid the process id on the host
 * @param program the program; empty for a task that was not spawned
 */
public record TaskInfo(int tid, int parent, int host, int flags, int pid, String program) {}
