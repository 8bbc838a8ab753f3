// SPDX-License-Identifier: MIT OR Apache-2.0
import java.util.List;
import org.neopvm.*;

/** The first task starts three more tasks of this program, which send it greetings. */
class Hello {
    public static void main(String[] args) throws Exception {
        try (Pvm pvm = Pvm.connect()) {
            if (pvm.parent().isPresent()) {
                pvm.message().put("hello from " + pvm.self()).to(pvm.parent().get(), 1);
                return;
            }
            String program = ProcessHandle.current().info().command().orElse("java");
            List<String> arguments = List.of("-cp", System.getProperty("java.class.path"), "Hello");
            for (TaskId task : pvm.spawn(program, arguments, Place.ANYWHERE, 3).orThrow()) {
                try (Message message = pvm.receive(task, 1)) {
                    System.out.println(message.getString());
                }
            }
        }
    }
}
