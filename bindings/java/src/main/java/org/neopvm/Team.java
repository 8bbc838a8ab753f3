// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Iterator;
import java.util.List;

/**
 * What a spawn has started.
 *
 * @param program the program
 * @param tasks those that run
 * @param failures why the others do not
 */
public record Team(String program, List<TaskId> tasks, List<Code> failures) implements Iterable<TaskId> {
    /** With lists of its own. */
    public Team {
        tasks = List.copyOf(tasks);
        failures = List.copyOf(failures);
    }

    static Team of(String program, int[] outcomes) {
        return new Team(program,
                java.util.Arrays.stream(outcomes).filter(n -> n > 0).mapToObj(TaskId::new).toList(),
                java.util.Arrays.stream(outcomes).filter(n -> n <= 0).mapToObj(Code::of).toList());
    }

    /** How many run. */
    public int size() {
        return tasks.size();
    }

    /**
     * The same, if all that were asked for run.
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
