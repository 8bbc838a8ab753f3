// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import org.neopvm.TaskInfo;

/** A task, as C's {@code struct pvmtaskinfo} describes it. */
public class PVMTaskInfo {
    /** The task's id. */
    public final int ti_tid;
    /** The id of the parent, or a negative number of {@link PVMConstants}. */
    public final int ti_ptid;
    /** The id of the host. */
    public final int ti_host;
    /** The state of the task. */
    public final int ti_flag;
    /** The program; empty for a task that was not spawned. */
    public final String ti_a_out;
    /** The process id. */
    public final int ti_pid;

    PVMTaskInfo(TaskInfo task) {
        ti_tid = task.tid();
        ti_ptid = task.parent();
        ti_host = task.host();
        ti_flag = task.flags();
        ti_a_out = task.program();
        ti_pid = task.pid();
    }

    /** Returns {@link #ti_tid}. */
    public int getTID() {
        return ti_tid;
    }

    /** Returns {@link #ti_ptid}. */
    public int getParentTID() {
        return ti_ptid;
    }

    /** Returns {@link #ti_host}. */
    public int getHostTID() {
        return ti_host;
    }

    /** Returns {@link #ti_a_out}. */
    public String getName() {
        return ti_a_out;
    }

    @Override
    public String toString() {
        return (ti_a_out.isEmpty() ? "-" : ti_a_out) + " (t" + Integer.toHexString(ti_tid) + ")";
    }
}
