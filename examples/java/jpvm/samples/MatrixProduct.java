// SPDX-License-Identifier: MIT OR Apache-2.0
package samples;

import jpvm.*;

/**
 * The product of two square matrices. Each worker gets the second matrix and a band of rows of the first one, and answers
 * with its band of the product. Arguments: size, workers.
 */
public class MatrixProduct {
    static final int WORK = 1;
    static final int RESULT = 2;

    public static void main(String[] args) throws jpvmException {
        jpvmEnvironment jpvm = new jpvmEnvironment("matrix product");
        if (jpvm.pvm_parent() == jpvmEnvironment.PvmNoParent) {
            master(jpvm, Integer.parseInt(args[0]), Integer.parseInt(args[1]));
        } else {
            worker(jpvm);
        }
        jpvm.pvm_exit();
    }

    static double[] matrix(int size, int seed) {
        double[] all = new double[size * size];
        for (int i = 0; i < all.length; i++) {
            all[i] = (i * 31 + seed) % 17 - 8;
        }
        return all;
    }

    static double[] product(double[] rows, double[] right, int size) {
        double[] result = new double[rows.length];
        for (int row = 0; row < rows.length / size; row++) {
            for (int column = 0; column < size; column++) {
                double sum = 0;
                for (int k = 0; k < size; k++) {
                    sum += rows[row * size + k] * right[k * size + column];
                }
                result[row * size + column] = sum;
            }
        }
        return result;
    }

    static void master(jpvmEnvironment jpvm, int size, int workers) throws jpvmException {
        double[] left = matrix(size, 1);
        double[] right = matrix(size, 2);
        jpvmTaskId[] tids = new jpvmTaskId[workers];
        // Without its package, as JPVM's users write it.
        int started = jpvm.pvm_spawn("MatrixProduct", workers, tids);
        for (int i = 0; i < started; i++) {
            int from = size * i / started;
            int to = size * (i + 1) / started;
            double[] band = java.util.Arrays.copyOfRange(left, from * size, to * size);
            jpvmBuffer buffer = new jpvmBuffer();
            buffer.pack(size);
            buffer.pack(from);
            buffer.pack(to - from);
            buffer.pack(band, band.length, 1);
            buffer.pack(right, right.length, 1);
            jpvm.pvm_send(buffer, tids[i], WORK);
        }
        double[] result = new double[size * size];
        for (int i = 0; i < started; i++) {
            jpvmMessage message = jpvm.pvm_recv(RESULT);
            int from = message.buffer.upkint();
            int rows = message.buffer.upkint();
            double[] band = new double[rows * size];
            message.buffer.unpack(band, band.length, 1);
            System.arraycopy(band, 0, result, from * size, band.length);
        }
        boolean same = java.util.Arrays.equals(result, product(left, right, size));
        System.out.println("workers " + started + ", product " + (same ? "right" : "wrong"));
    }

    static void worker(jpvmEnvironment jpvm) throws jpvmException {
        jpvmMessage message = jpvm.pvm_recv(jpvm.pvm_parent(), WORK);
        int size = message.buffer.upkint();
        int from = message.buffer.upkint();
        int rows = message.buffer.upkint();
        double[] band = new double[rows * size];
        double[] right = new double[size * size];
        message.buffer.unpack(band, band.length, 1);
        message.buffer.unpack(right, right.length, 1);
        jpvmBuffer answer = new jpvmBuffer();
        answer.pack(from);
        answer.pack(rows);
        answer.pack(product(band, right, size), rows * size, 1);
        jpvm.pvm_send(answer, message.sourceTid, RESULT);
    }
}
