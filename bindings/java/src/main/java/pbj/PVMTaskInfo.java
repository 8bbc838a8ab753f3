// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import org.neopvm.TaskInfo;

/** C's {@code struct pvmtaskinfo}. */
public class PVMTaskInfo {
    /** The task's id. */
    public final int ti_tid;
    /** Its parent's id, or a negative number of {@link PVMConstants}. */
    public final int ti_ptid;
    /** The id of its host's daemon. */
    public final int ti_host;
    /** Its state. */
    public final int ti_flag;
    /** Its program, empty where it was not spawned. */
    public final String ti_a_out;
    /** Its process. */
    public final int ti_pid;

    PVMTaskInfo(TaskInfo task) {
        ti_tid = task.tid();
        ti_ptid = task.parent();
        ti_host = task.host();
        ti_flag = task.flags();
        ti_a_out = task.program();
        ti_pid = task.pid();
    }

    /** {@link #ti_tid} */
    public int getTID() {
        return ti_tid;
    }

    /** {@link #ti_ptid} */
    public int getParentTID() {
        return ti_ptid;
    }

    /** {@link #ti_host} */
    public int getHostTID() {
        return ti_host;
    }

    /** {@link #ti_a_out} */
    public String getName() {
        return ti_a_out;
    }

    @Override
    public String toString() {
        return (ti_a_out.isEmpty() ? "-" : ti_a_out) + " (t" + Integer.toHexString(ti_tid) + ")";
    }
}
