// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import java.util.Arrays;
import java.util.List;
import org.neopvm.Code;
import org.neopvm.HostInfo;
import org.neopvm.TaskId;
import org.neopvm.engine.Engine;

/** The machine. There is one instance. */
public final class PVM extends PVMObject {
    /** The texts of the results, indexed by the negated result. */
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

    /** Returns the machine. */
    public static PVM getInstance() {
        return MACHINE;
    }

    /**
     * Starts as many tasks of a program as {@code tids} has room for.
     *
     * @param tids gets the ids of the tasks, then a negative result for each one that was not
     *     started
     * @return the number of tasks that run
     */
    public int spawn(String program, int[] tids) throws PVMException {
        return spawn(program, null, PvmTaskDefault, null, tids);
    }

    /** Starts tasks as {@link #spawn(String, int[])} does, with arguments for the program. */
    public int spawn(String program, String[] arguments, int[] tids) throws PVMException {
        return spawn(program, arguments, PvmTaskDefault, null, tids);
    }

    /**
     * Starts tasks as {@link #spawn(String, int[])} does, on the hosts that {@code where} names:
     * {@code flag} is PvmTaskHost or PvmTaskArch; with PvmHostCompl added, all other hosts.
     */
    public int spawn(String program, int flag, String where, int[] tids) throws PVMException {
        return spawn(program, null, flag, where, tids);
    }

    /**
     * Starts tasks as {@link #spawn(String, int[])} does, with arguments and on the hosts that
     * {@code where} names.
     */
    public int spawn(String program, String[] arguments, int flag, String where, int[] tids) throws PVMException {
        int[] outcomes = call(pvm -> pvm.transport().spawn(program,
                arguments == null ? List.of() : List.of(arguments), flag, where, tids.length));
        System.arraycopy(outcomes, 0, tids, 0, tids.length);
        return (int) Arrays.stream(outcomes).filter(n -> n > 0).count();
    }

    /** Returns the hosts of the machine. */
    public PVMHostInfo[] config() throws PVMException {
        return call(pvm -> pvm.hosts().stream().map(PVMHostInfo::new).toArray(PVMHostInfo[]::new));
    }

    /** Returns all tasks of the machine. */
    public PVMTaskInfo[] alltasks() throws PVMException {
        return tasks(0);
    }

    /** Returns all tasks if {@code where} is 0, else those of a host, or one task. */
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

    /**
     * Adds hosts. The result has for each host its id, or a negative result if it was not added.
     */
    public int[] addHosts(String[] names) throws PVMException {
        return call(pvm -> pvm.transport().addHosts(List.of(names)));
    }

    /**
     * Removes hosts. The result has for each host 0, or a negative result if it was not removed.
     */
    public int[] delHosts(String[] names) throws PVMException {
        return call(pvm -> pvm.transport().deleteHosts(List.of(names)));
    }

    /**
     * Requests a message with a tag for each of the tasks or hosts when it ends. It contains one
     * int, the id.
     */
    public void notify(int what, int tag, int[] tids) throws PVMException {
        call(pvm -> {
            pvm.transport().notify(what, tag, Engine.CURRENT_CONTEXT, tids, tids.length);
            return null;
        });
    }

    /**
     * Requests up to {@code count} messages (-1: all) with a tag when hosts are added. Each
     * contains the number of new hosts and their ids.
     */
    public void notify(int what, int tag, int count) throws PVMException {
        call(pvm -> {
            pvm.transport().notify(what, tag, Engine.CURRENT_CONTEXT, null, count);
            return null;
        });
    }

    /** Returns the id of a task's host, or {@link #PvmNoHost}. */
    public int tidToHost(int tid) throws PVMException {
        return call(pvm -> pvm.hosts().stream().mapToInt(HostInfo::tid)
                .filter(host -> (host & 0x3ffc0000) == (tid & 0x3ffc0000)).findFirst().orElse(PvmNoHost));
    }
}
