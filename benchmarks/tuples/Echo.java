// SPDX-License-Identifier: MIT OR Apache-2.0
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import jpvm.jpvmBuffer;
import jpvm.jpvmEnvironment;
import jpvm.jpvmMessage;
import jpvm.jpvmTaskId;
import org.neopvm.Draft;
import org.neopvm.Message;
import org.neopvm.Pvm;
import org.neopvm.TaskId;

/**
 * A round trip by JPVM's calls and by those of org.neopvm, in turns: Echo ROUNDS, for 1 and 1000 ints. Behind them the
 * same ints by Java's sockets alone, on which the original JPVM stood: its messages took no less.
 */
public final class Echo {
    private static final int TAG = 1;
    private static final int BATCHES = 9;
    private static final int INTS_MAX = 1000;

    private Echo() {}

    /** Sends back what comes, by JPVM's calls, until a message has no int. */
    public static final class OfJpvm {
        private OfJpvm() {}

        public static void main(String[] arguments) {
            jpvmEnvironment jpvm = new jpvmEnvironment();
            int[] items = new int[INTS_MAX];
            while (true) {
                jpvmMessage message = jpvm.pvm_recv(TAG);
                int count = message.buffer.upkint();
                if (count == 0) {
                    break;
                }
                message.buffer.unpack(items, count, 1);
                jpvm.pvm_send(packed(items, count), message.sourceTid, TAG);
            }
            jpvm.pvm_exit();
        }
    }

    /** Sends back what comes, by the calls of org.neopvm. */
    public static final class OfNeopvm {
        private OfNeopvm() {}

        public static void main(String[] arguments) throws InterruptedException {
            try (Pvm pvm = Pvm.connect()) {
                int[] items = new int[INTS_MAX];
                while (true) {
                    TaskId source;
                    int count;
                    try (Message message = pvm.receive(TaskId.ANY, TAG)) {
                        source = message.source();
                        count = message.getInt();
                        if (count == 0) {
                            return;
                        }
                        message.into(org.neopvm.engine.Kind.INT, items, 0, count, 1);
                    }
                    draft(pvm, items, count).to(source, TAG);
                }
            }
        }
    }

    /** Sends back what comes, by a socket to a port, until a message has no int. */
    public static final class OfSockets {
        private OfSockets() {}

        public static void main(String[] arguments) throws IOException {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[0]))) {
                Stream stream = new Stream(socket);
                int[] items = new int[INTS_MAX];
                for (int count = stream.read(items); count > 0; count = stream.read(items)) {
                    stream.write(items, count);
                }
            }
        }
    }

    /** Ints behind their number, over a socket that waits for no more. */
    private static final class Stream {
        private final DataInputStream in;
        private final DataOutputStream out;

        Stream(Socket socket) throws IOException {
            socket.setTcpNoDelay(true);
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream()));
        }

        void write(int[] items, int count) throws IOException {
            out.writeInt(count);
            for (int i = 0; i < count; i++) {
                out.writeInt(items[i]);
            }
            out.flush();
        }

        int read(int[] items) throws IOException {
            int count = in.readInt();
            for (int i = 0; i < count; i++) {
                items[i] = in.readInt();
            }
            return count;
        }
    }

    private static void bySockets(int rounds) throws IOException, InterruptedException {
        try (ServerSocket door = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String java = ProcessHandle.current().info().command().orElse("java");
            Process partner = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "Echo$OfSockets",
                    Integer.toString(door.getLocalPort())).inheritIO().start();
            try (Socket socket = door.accept()) {
                Stream stream = new Stream(socket);
                int[] items = new int[INTS_MAX];
                for (int count : new int[] {1, INTS_MAX}) {
                    double[] times = new double[BATCHES];
                    for (int batch = -2; batch < BATCHES; batch++) {
                        long begun = System.nanoTime();
                        for (int i = 0; i < rounds; i++) {
                            stream.write(items, count);
                            stream.read(items);
                        }
                        if (batch >= 0) {
                            times[batch] = (double) (System.nanoTime() - begun) / rounds;
                        }
                    }
                    System.out.printf("sockets %d ints: %.0f ns%n", count, median(times));
                }
                stream.write(items, 0);
            }
            partner.waitFor();
        }
    }

    private static jpvmBuffer packed(int[] items, int count) {
        jpvmBuffer buffer = new jpvmBuffer();
        buffer.pack(count);
        buffer.pack(items, count, 1);
        return buffer;
    }

    private static Draft draft(Pvm pvm, int[] items, int count) {
        return pvm.message().put(count).put(org.neopvm.engine.Kind.INT, items, 0, count, 1);
    }

    private static void byJpvm(jpvmEnvironment jpvm, jpvmTaskId to, int[] items, int count) {
        jpvm.pvm_send(packed(items, count), to, TAG);
        jpvmMessage message = jpvm.pvm_recv(to, TAG);
        message.buffer.unpack(items, message.buffer.upkint(), 1);
    }

    private static void byNeopvm(Pvm pvm, TaskId to, int[] items, int count) throws InterruptedException {
        draft(pvm, items, count).to(to, TAG);
        try (Message message = pvm.receive(to, TAG)) {
            message.into(org.neopvm.engine.Kind.INT, items, 0, message.getInt(), 1);
        }
    }

    private static double median(double[] times) {
        Arrays.sort(times);
        return times[times.length / 2];
    }

    public static void main(String[] arguments) throws InterruptedException, IOException {
        int rounds = Integer.parseInt(arguments[0]);
        jpvmEnvironment jpvm = new jpvmEnvironment();
        jpvmTaskId[] first = new jpvmTaskId[1];
        jpvmTaskId[] second = new jpvmTaskId[1];
        if (jpvm.pvm_spawn("Echo$OfJpvm", 1, first) + jpvm.pvm_spawn("Echo$OfNeopvm", 1, second) != 2) {
            throw new IllegalStateException("the partners do not start");
        }
        Pvm pvm = Pvm.connect();
        TaskId other = new TaskId(second[0].getPort());
        int[] items = new int[INTS_MAX];
        for (int count : new int[] {1, INTS_MAX}) {
            double[][] times = new double[2][BATCHES];
            // The first two batches of each are for the compiler.
            for (int batch = -2; batch < BATCHES; batch++) {
                long begun = System.nanoTime();
                for (int i = 0; i < rounds; i++) {
                    byJpvm(jpvm, first[0], items, count);
                }
                long between = System.nanoTime();
                for (int i = 0; i < rounds; i++) {
                    byNeopvm(pvm, other, items, count);
                }
                if (batch >= 0) {
                    times[0][batch] = (double) (between - begun) / rounds;
                    times[1][batch] = (double) (System.nanoTime() - between) / rounds;
                }
            }
            double one = median(times[0]);
            double two = median(times[1]);
            System.out.printf("%s %d ints: jpvm %.0f ns, org.neopvm %.0f ns, ratio %.2f%n", pvm.engine(), count, one, two,
                    one / two);
        }
        jpvm.pvm_send(packed(items, 0), first[0], TAG);
        draft(pvm, items, 0).to(other, TAG);
        jpvm.pvm_exit();
        bySockets(rounds);
    }
}
