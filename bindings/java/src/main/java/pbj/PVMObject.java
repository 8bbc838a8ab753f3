// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import org.neopvm.Code;
import org.neopvm.Pvm;
import org.neopvm.PvmException;

/**
 * The superclass of the other classes. It has the numbers of {@code pvm3.h} and the connection of
 * this process to the machine, which the first call that needs it opens.
 */
public class PVMObject implements PVMConstants {
    private static Pvm machine;
    /** True after a call has failed in a way that means that the machine may have ended. */
    private static boolean doubtful;

    /** For subclasses. */
    protected PVMObject() {}

    /** An operation that may fail. */
    @FunctionalInterface
    interface Work<T> {
        T run(Pvm machine) throws InterruptedException;
    }

    /**
     * Runs an operation as a task of the machine. A process that has left is enrolled again, as in
     * PVM.
     */
    static <T> T call(Work<T> work) throws PVMException {
        try {
            return work.run(machine());
        } catch (PvmException e) {
            doubt(e.code());
            throw new PVMException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new PVMException(Code.SYS_ERR, "interrupted", e);
        } catch (IndexOutOfBoundsException | IllegalStateException | NullPointerException e) {
            throw new PVMException(Code.BAD_PARAM, String.valueOf(e.getMessage()), e);
        }
    }

    private static synchronized Pvm machine() {
        if (machine == null || doubtful || !machine.isOpen()) {
            Pvm old = machine;
            machine = Pvm.connect();
            doubtful = false;
            if (old != null) {
                old.close();
            }
        }
        return machine;
    }

    /**
     * Has the next call check the connection, because {@code isOpen} may not know yet that the
     * daemon has ended.
     */
    private static synchronized void doubt(Code failure) {
        doubtful |= failure == Code.SYS_ERR;
    }

    /** Leaves the machine if this process is in it. */
    static synchronized void leaveMachine() {
        if (machine != null) {
            machine.leave();
            machine = null;
        }
    }
}
