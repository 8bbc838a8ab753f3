// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * The id of a task.
 *
 * @param number the tid in C programs
 */
public record TaskId(int number) {
    /** As a source: any task. */
    public static final TaskId ANY = new TaskId(-1);

    @Override
    public String toString() {
        return number == -1 ? "any task" : "t" + Integer.toHexString(number);
    }
}
