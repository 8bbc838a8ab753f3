// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import java.time.Duration;
import org.neopvm.Message;
import org.neopvm.Pvm;
import org.neopvm.TaskId;

/** A task: what a parallel program extends. Any thread may call any method. */
public class PVMTask extends PVMObject {
    private final MessageEvents events = new MessageEvents();

    /** A task; it is enrolled by the first call that needs it. */
    public PVMTask() {}

    /** This task's id. Enrols it. */
    public int myTID() throws PVMException {
        return call(pvm -> pvm.self().number());
    }

    /** The id of the task that spawned this one; {@link #PvmNoParent} if none did. */
    public int parent() throws PVMException {
        return call(pvm -> pvm.transport().parent());
    }

    /** Leaves the machine. */
    public void exit() throws PVMException {
        events.disable();
        try {
            leaveMachine();
        } catch (org.neopvm.PvmException e) {
            throw new PVMException(e);
        }
    }

    /** Waits for a message of a task with a tag; -1 is any. */
    public PVMMessageBuffer receive(int tid, int tag) throws PVMException {
        return call(pvm -> new PVMMessageBuffer(pvm.receive(new TaskId(tid), tag)));
    }

    /** A message that is here already, or null. */
    public PVMMessageBuffer nonBlockingReceive(int tid, int tag) throws PVMException {
        return call(pvm -> buffer(pvm.poll(new TaskId(tid), tag).orElse(null)));
    }

    /** Waits for a message for some time; null when it is over. */
    public PVMMessageBuffer timedReceive(int tid, int tag, TimeVal time) throws PVMException {
        Duration limit = Duration.ofSeconds(time.tv_sec).plusNanos(Math.multiplyExact(time.tv_usec, 1000L));
        return call(pvm -> buffer(pvm.receive(new TaskId(tid), tag, limit).orElse(null)));
    }

    private static PVMMessageBuffer buffer(Message message) {
        return message == null ? null : new PVMMessageBuffer(message);
    }

    /** True if such a message is here. */
    public boolean probe(int tid, int tag) throws PVMException {
        return call((Pvm pvm) -> pvm.probe(new TaskId(tid), tag).isPresent());
    }

    /** From now on, while message events are enabled, {@code listener} gets the messages that it is looking for. */
    public void addPVMMessageBufferListener(PVMMessageBufferListener listener) {
        events.add(listener);
    }

    /** It gets no more. */
    public void removePVMMessageBufferListener(PVMMessageBufferListener listener) {
        events.remove(listener);
    }

    /**
     * Hands messages to the listeners as they come, one after the other, on a thread of its own. That thread keeps
     * the program running until {@link #disableMessageEvents}, or until no machine answers, which is logged.
     *
     * @param milliseconds how often listeners are asked whether they look for something else than before
     */
    public void enableMessageEvents(int milliseconds) {
        events.enable(milliseconds);
    }

    /** Hands out no more. A listener may call it while it handles a message. */
    public void disableMessageEvents() {
        events.disable();
    }
}
