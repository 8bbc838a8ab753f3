// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Iterator;
import java.util.List;

/**
 * The result of a spawn.
 *
 * @param program the program
 * @param tasks the tasks that run
 * @param failures the reasons for the tasks that were not started
 */
public record Team(String program, List<TaskId> tasks, List<Code> failures) implements Iterable<TaskId> {
    /** Copies the lists. */
    public Team {
        tasks = List.copyOf(tasks);
        failures = List.copyOf(failures);
    }

    static Team of(String program, int[] outcomes) {
        return new Team(program,
                java.util.Arrays.stream(outcomes).filter(n -> n > 0).mapToObj(TaskId::new).toList(),
                java.util.Arrays.stream(outcomes).filter(n -> n <= 0).mapToObj(Code::of).toList());
    }

    /** Returns the number of tasks that run. */
    public int size() {
        return tasks.size();
    }

    /**
     * Returns this team if all tasks were started.
     *
     * @throws PvmException the first failure
     */
    public Team orThrow() {
        if (!failures.isEmpty()) {
            throw new PvmException(failures.get(0), "spawning " + program + ", " + failures.size() + " of "
                    + (failures.size() + tasks.size()) + " tasks");
        }
        return this;
    }

    @Override
    public Iterator<TaskId> iterator() {
        return tasks.iterator();
    }
}
