import java.time.Duration;
import org.neopvm.Memory;
import org.neopvm.Message;
import org.neopvm.Pvm;
import org.neopvm.TaskId;

/** Takes numbers of a counter as count.c does. */
final class Count {
    public static void main(String[] arguments) throws Exception {
        try (Pvm pvm = Pvm.connect()) {
            TaskId parent = pvm.parent().orElseThrow();
            pvm.message().to(parent, 2);
            Message told = pvm.receive(parent, 1, Duration.ofSeconds(120)).orElseThrow();
            int[] what = told.getInts(3);
            Memory memory = pvm.memory(new TaskId(what[0]), what[1]);
            long[] had = new long[what[2]];
            for (int i = 0; i < had.length; i++) {
                had[i] = memory.addLong(0, 1);
                long seen = memory.getLong(8);
                for (long before; (before = memory.exchangeLong(8, seen, seen + 1)) != seen; ) {
                    seen = before;
                }
            }
            pvm.message().put(had).to(parent, 3);
        }
    }
}
