// SPDX-License-Identifier: MIT OR Apache-2.0
package samples;

import jpvm.*;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * A master hands numbers to slaves and sums their squares. A slave that dies before it has answered is replaced, and its
 * number is handed out again: the notice of its death says so. Arguments: numbers, slaves, and how many slaves die.
 */
public class Slaves {
    static final int WORK = 1;
    static final int RESULT = 2;
    static final int DIED = 3;
    static final int END = 4;

    private final jpvmEnvironment jpvm;
    private final ArrayDeque<Integer> waiting = new ArrayDeque<>();
    private final Map<jpvmTaskId, Integer> busy = new HashMap<>();

    Slaves(jpvmEnvironment jpvm) {
        this.jpvm = jpvm;
    }

    public static void main(String[] args) throws jpvmException {
        jpvmEnvironment jpvm = new jpvmEnvironment();
        if (jpvm.pvm_parent() != null) {
            slave(jpvm);
        } else {
            new Slaves(jpvm).run(Integer.parseInt(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        }
        jpvm.pvm_exit();
    }

    static void slave(jpvmEnvironment jpvm) throws jpvmException {
        for (;;) {
            jpvmMessage message = jpvm.pvm_recv();
            if (message.messageTag == END) {
                return;
            }
            long number = message.buffer.upkint();
            if (message.buffer.upkint() == 1) {
                Runtime.getRuntime().halt(1);
            }
            jpvmBuffer answer = new jpvmBuffer();
            answer.pack(number * number);
            jpvm.pvm_send(answer, message.sourceTid, RESULT);
        }
    }

    private void start(int slaves) throws jpvmException {
        jpvmTaskId[] tids = new jpvmTaskId[slaves];
        int started = jpvm.pvm_spawn("Slaves", slaves, tids);
        jpvm.pvm_notify(jpvmEnvironment.PvmTaskExit, DIED, started, tids);
        for (int i = 0; i < started; i++) {
            hand(tids[i], false);
        }
    }

    private void hand(jpvmTaskId slave, boolean die) throws jpvmException {
        Integer number = waiting.poll();
        if (number == null) {
            jpvm.pvm_send(new jpvmBuffer(), slave, END);
            return;
        }
        busy.put(slave, number);
        jpvmBuffer work = new jpvmBuffer();
        work.pack(number);
        work.pack(die ? 1 : 0);
        jpvm.pvm_send(work, slave, WORK);
    }

    private void run(int numbers, int slaves, int deaths) throws jpvmException {
        for (int i = 1; i <= numbers; i++) {
            waiting.add(i);
        }
        start(slaves);
        long sum = 0;
        int done = 0;
        int toDie = deaths;
        int replaced = 0;
        while (done < numbers) {
            jpvmMessage message = jpvm.pvm_recv();
            if (message.messageTag == RESULT) {
                sum += message.buffer.upklong();
                done++;
                busy.remove(message.sourceTid);
                hand(message.sourceTid, toDie-- > 0);
            } else if (message.messageTag == DIED) {
                Integer lost = busy.remove(message.buffer.upktid());
                if (lost != null) {
                    waiting.addFirst(lost);
                    replaced++;
                    start(1);
                }
            }
        }
        System.out.println("sum " + sum + ", replaced " + replaced);
    }
}
