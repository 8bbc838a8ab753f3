// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import java.util.Arrays;
import java.util.List;
import org.neopvm.Code;
import org.neopvm.HostInfo;
import org.neopvm.TaskId;
import org.neopvm.engine.Engine;

/** The machine; there is one. */
public final class PVM extends PVMObject {
    /** What the results mean, by the negative of the result. */
    public static final String[] pvm_errlist = texts();
    private static final PVM MACHINE = new PVM();

    private PVM() {}

    private static String[] texts() {
        int last = Arrays.stream(Code.values()).mapToInt(code -> -code.number()).max().orElse(0);
        String[] texts = new String[last + 1];
        Arrays.fill(texts, "Error of no known number");
        texts[0] = "No error";
        for (Code code : Code.values()) {
            texts[-code.number()] = code.text();
        }
        return texts;
    }

    /** The machine. */
    public static PVM getInstance() {
        return MACHINE;
    }

    /**
     * Starts as many tasks of a program as {@code tids} has room for.
     *
     * @param tids becomes their ids; behind them the reasons why the others do not run
     * @return how many run
     */
    public int spawn(String program, int[] tids) throws PVMException {
        return spawn(program, null, PvmTaskDefault, null, tids);
    }

    /** The same with arguments. */
    public int spawn(String program, String[] arguments, int[] tids) throws PVMException {
        return spawn(program, arguments, PvmTaskDefault, null, tids);
    }

    /** The same at a place: {@code flag} is PvmTaskHost or PvmTaskArch, perhaps with PvmHostCompl added. */
    public int spawn(String program, int flag, String where, int[] tids) throws PVMException {
        return spawn(program, null, flag, where, tids);
    }

    /** The same with arguments, at a place. */
    public int spawn(String program, String[] arguments, int flag, String where, int[] tids) throws PVMException {
        int[] outcomes = call(pvm -> pvm.transport().spawn(program,
                arguments == null ? List.of() : List.of(arguments), flag, where, tids.length));
        System.arraycopy(outcomes, 0, tids, 0, tids.length);
        return (int) Arrays.stream(outcomes).filter(n -> n > 0).count();
    }

    /** The hosts. */
    public PVMHostInfo[] config() throws PVMException {
        return call(pvm -> pvm.hosts().stream().map(PVMHostInfo::new).toArray(PVMHostInfo[]::new));
    }

    /** All tasks. */
    public PVMTaskInfo[] alltasks() throws PVMException {
        return tasks(0);
    }

    /** Tasks: all for 0, or those of a host, or one. */
    public PVMTaskInfo[] tasks(int where) throws PVMException {
        return call(pvm -> pvm.transport().tasks(where).stream().map(PVMTaskInfo::new).toArray(PVMTaskInfo[]::new));
    }

    /** Ends a task. */
    public void kill(int tid) throws PVMException {
        call(pvm -> {
            pvm.kill(new TaskId(tid));
            return null;
        });
    }

    /** Sends a signal of the operating system to a task. */
    public void sendSignal(int tid, int signal) throws PVMException {
        call(pvm -> {
            pvm.signal(new TaskId(tid), signal);
            return null;
        });
    }

    /** Ends the machine and all its tasks, this one included. */
    public void halt() throws PVMException {
        call(pvm -> {
            pvm.halt();
            return null;
        });
    }

    /** Adds hosts; tells for each its daemon's id or why it could not be added. */
    public int[] addHosts(String[] names) throws PVMException {
        return call(pvm -> pvm.transport().addHosts(List.of(names)));
    }

    /** Removes hosts; tells for each 0 or why it could not be removed. */
    public int[] delHosts(String[] names) throws PVMException {
        return call(pvm -> pvm.transport().deleteHosts(List.of(names)));
    }

    /** Asks for a message with a tag for each of the tasks or hosts when it ends: one int, its id. */
    public void notify(int what, int tag, int[] tids) throws PVMException {
        call(pvm -> {
            pvm.transport().notify(what, tag, Engine.CURRENT_CONTEXT, tids, tids.length);
            return null;
        });
    }

    /** Asks for up to {@code count} messages (-1: all) with a tag when hosts come: their number and their ids. */
    public void notify(int what, int tag, int count) throws PVMException {
        call(pvm -> {
            pvm.transport().notify(what, tag, Engine.CURRENT_CONTEXT, null, count);
            return null;
        });
    }

    /** The id of the daemon of a task's host. */
    public int tidToHost(int tid) throws PVMException {
        return call(pvm -> pvm.hosts().stream().mapToInt(HostInfo::tid)
                .filter(host -> (host & 0x3ffc0000) == (tid & 0x3ffc0000)).findFirst().orElse(PvmNoHost));
    }
}
