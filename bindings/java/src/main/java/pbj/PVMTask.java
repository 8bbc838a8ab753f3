// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import java.time.Duration;
import org.neopvm.Message;
import org.neopvm.Pvm;
import org.neopvm.TaskId;

/** A task. Parallel programs extend this class. Any thread may call any method. */
public class PVMTask extends PVMObject {
    private final MessageEvents events = new MessageEvents();

    /** Makes the object. The first call that needs the machine enrols the task. */
    public PVMTask() {}

    /** Enrols this task and returns its id. */
    public int myTID() throws PVMException {
        return call(pvm -> pvm.self().number());
    }

    /** Returns the id of the task that spawned this one, or {@link #PvmNoParent}. */
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

    /** Waits for a message of a task with a tag, and returns it; -1 matches any task or tag. */
    public PVMMessageBuffer receive(int tid, int tag) throws PVMException {
        return call(pvm -> new PVMMessageBuffer(pvm.receive(new TaskId(tid), tag)));
    }

    /** Returns a message that has arrived already, or null. */
    public PVMMessageBuffer nonBlockingReceive(int tid, int tag) throws PVMException {
        return call(pvm -> buffer(pvm.poll(new TaskId(tid), tag).orElse(null)));
    }

    /** Waits for a message, and returns it, or null if the time expires. */
    public PVMMessageBuffer timedReceive(int tid, int tag, TimeVal time) throws PVMException {
        Duration limit = Duration.ofSeconds(time.tv_sec).plusNanos(Math.multiplyExact(time.tv_usec, 1000L));
        return call(pvm -> buffer(pvm.receive(new TaskId(tid), tag, limit).orElse(null)));
    }

    private static PVMMessageBuffer buffer(Message message) {
        return message == null ? null : new PVMMessageBuffer(message);
    }

    /** Returns true if a matching message has arrived. The message is not taken. */
    public boolean probe(int tid, int tag) throws PVMException {
        return call((Pvm pvm) -> pvm.probe(new TaskId(tid), tag).isPresent());
    }

    /** Adds a listener. It gets the messages that it wants while message events are enabled. */
    public void addPVMMessageBufferListener(PVMMessageBufferListener listener) {
        events.add(listener);
    }

    /** Removes a listener. */
    public void removePVMMessageBufferListener(PVMMessageBufferListener listener) {
        events.remove(listener);
    }

    /**
     * Passes arriving messages to the listeners, one after the other, on a thread of its own. The
     * thread keeps the program running until {@link #disableMessageEvents}, or until the machine
     * does not answer, which is logged.
     *
     * @param milliseconds the interval at which listeners are asked which messages they want
     */
    public void enableMessageEvents(int milliseconds) {
        events.enable(milliseconds);
    }

    /** Stops passing messages to listeners. A listener may call it while it handles a message. */
    public void disableMessageEvents() {
        events.disable();
    }
}
