// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import org.neopvm.Encoding;
import org.neopvm.PvmException;
import org.neopvm.TaskInfo;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Outgoing;
import org.neopvm.engine.Texts;

/**
 * The names of JPVM's tasks, all of whose program is {@code java}. Each task stores its own as a named message, which goes
 * with it.
 */
final class TaskNames {
    private static final int FIRST = 8;

    private TaskNames() {}

    private static String entry(int tid) {
        return "jpvm:" + Integer.toHexString(tid);
    }

    /** The name of this task: what the program or its parent says, else its main class. */
    static void tell(String given) {
        String name = given == null ? System.getProperty("jpvm.taskname", mainClass()) : given;
        Link.call(engine -> {
            try (Outgoing message = engine.create(Encoding.DEFAULT)) {
                message.packText(Texts.bytes(name, "naming a task"));
                engine.put(entry(engine.tid()), message, 0);
            } catch (PvmException e) {
                // Names are only shown: a second environment of this task, or a full table, stops nobody.
            }
            return null;
        });
    }

    private static String mainClass() {
        return System.getProperty("sun.java.command", "java").split(" ", 2)[0];
    }

    static String of(Engine engine, TaskInfo task) {
        try (Incoming message = engine.get(entry(task.tid()), 0, FIRST)) {
            if (message != null) {
                return new String(message.unpackText(), java.nio.charset.StandardCharsets.UTF_8);
            }
        } catch (PvmException e) {
            // It has ended, or something else lies under the name.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return task.program().isEmpty() ? "-" : task.program();
    }
}
