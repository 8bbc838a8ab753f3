// SPDX-License-Identifier: MIT OR Apache-2.0
import jpvm.*;

/** Each worker greets this task; the argument says how many there are. Neither class has a package. */
class JpvmHello {
    public static void main(String[] args) {
        int workers = args.length > 0 ? Integer.parseInt(args[0]) : 3;
        try {
            jpvmEnvironment jpvm = new jpvmEnvironment();
            jpvmTaskId[] tids = new jpvmTaskId[workers];
            int started = jpvm.pvm_spawn("JpvmHelloWorker", workers, tids);
            for (int i = 0; i < started; i++) {
                jpvmMessage message = jpvm.pvm_recv();
                System.out.println(message.buffer.upkstr() + ", tag " + message.messageTag);
            }
            jpvm.pvm_exit();
        } catch (jpvmException e) {
            System.out.println("JPVM: " + e.getMessage());
        }
    }
}

class JpvmHelloWorker {
    public static void main(String[] args) {
        try {
            jpvmEnvironment jpvm = new jpvmEnvironment();
            jpvmBuffer buffer = new jpvmBuffer();
            buffer.pack("hello from a worker");
            jpvm.pvm_send(buffer, jpvm.pvm_parent(), 12);
            jpvm.pvm_exit();
        } catch (jpvmException e) {
            System.out.println("JPVM: " + e.getMessage());
        }
    }
}
