// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

/** The tasks of one host at one moment. */
public class jpvmTaskStatus {
    /** The name of the host. */
    public String hostName;
    /** The number of tasks. */
    public int numTasks;
    /** The classes of JPVM's tasks, and the programs of other tasks. */
    public String[] taskNames;
    /** The ids of the tasks. */
    public jpvmTaskId[] taskTids;

    jpvmTaskStatus(String hostName, String[] taskNames, jpvmTaskId[] taskTids) {
        this.hostName = hostName;
        this.numTasks = taskTids.length;
        this.taskNames = taskNames;
        this.taskTids = taskTids;
    }
}
