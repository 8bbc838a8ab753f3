// SPDX-License-Identifier: MIT OR Apache-2.0
package samples;

import jpvm.*;

/**
 * Red-black successive over-relaxation on a square grid of which the upper edge is hot. Each worker has a band of rows and
 * exchanges its outer rows with its neighbours after each half sweep. Arguments: size, sweeps, workers.
 */
public class Sor {
    static final int BAND = 1;
    static final int EDGE = 2;
    static final int RESULT = 3;
    static final double OMEGA = 1.5;

    public static void main(String[] args) throws jpvmException {
        jpvmEnvironment jpvm = new jpvmEnvironment();
        if (jpvm.pvm_parent() == null) {
            master(jpvm, Integer.parseInt(args[0]), Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        } else {
            worker(jpvm);
        }
        jpvm.pvm_exit();
    }

    /** Rows 1 to {@code rows} of a band, of which row 1 is row {@code first} of the grid; the rows around are others'. */
    static void half(double[][] band, int first, int rows, int size, int colour) {
        for (int row = 1; row <= rows; row++) {
            for (int column = 1; column <= size; column++) {
                if ((first + row + column) % 2 == colour) {
                    double around = (band[row - 1][column] + band[row + 1][column] + band[row][column - 1]
                            + band[row][column + 1]) / 4;
                    band[row][column] += OMEGA * (around - band[row][column]);
                }
            }
        }
    }

    static double[][] grid(int rows, int size, boolean hot) {
        double[][] grid = new double[rows + 2][size + 2];
        if (hot) {
            java.util.Arrays.fill(grid[0], 100);
        }
        return grid;
    }

    static void master(jpvmEnvironment jpvm, int size, int sweeps, int workers) throws jpvmException {
        jpvmTaskId[] tids = new jpvmTaskId[workers];
        int started = jpvm.pvm_spawn("samples.Sor", workers, tids);
        for (int i = 0; i < started; i++) {
            jpvmBuffer buffer = new jpvmBuffer();
            buffer.pack(new int[] {size, sweeps, i, started}, 4, 1);
            buffer.pack(tids, started, 1);
            jpvm.pvm_send(buffer, tids[i], BAND);
        }
        double[][] grid = grid(size, size, true);
        for (int sweep = 0; sweep < sweeps * 2; sweep++) {
            half(grid, 1, size, size, sweep % 2);
        }
        boolean same = true;
        for (int i = 0; i < started; i++) {
            jpvmMessage message = jpvm.pvm_recv(tids[i], RESULT);
            int first = message.buffer.upkint();
            int rows = message.buffer.upkint();
            for (int row = 0; row < rows; row++) {
                double[] line = new double[size + 2];
                message.buffer.unpack(line, size + 2, 1);
                same &= java.util.Arrays.equals(line, grid[first + row]);
            }
        }
        System.out.println("workers " + started + ", grid " + (same ? "right" : "wrong"));
    }

    static void worker(jpvmEnvironment jpvm) throws jpvmException {
        jpvmMessage work = jpvm.pvm_recv(BAND);
        int[] plan = new int[4];
        work.buffer.unpack(plan, 4, 1);
        int size = plan[0];
        int me = plan[2];
        int all = plan[3];
        jpvmTaskId[] tids = new jpvmTaskId[all];
        work.buffer.unpack(tids, all, 1);
        int first = 1 + size * me / all;
        int rows = size * (me + 1) / all - size * me / all;
        double[][] band = grid(rows, size, me == 0);
        for (int sweep = 0; sweep < plan[1] * 2; sweep++) {
            half(band, first, rows, size, sweep % 2);
            if (me > 0) {
                edge(jpvm, band[1], tids[me - 1]);
            }
            if (me < all - 1) {
                edge(jpvm, band[rows], tids[me + 1]);
                jpvm.pvm_recv(tids[me + 1], EDGE).buffer.unpack(band[rows + 1], size + 2, 1);
            }
            if (me > 0) {
                jpvm.pvm_recv(tids[me - 1], EDGE).buffer.unpack(band[0], size + 2, 1);
            }
        }
        jpvmBuffer result = new jpvmBuffer();
        result.pack(first);
        result.pack(rows);
        for (int row = 1; row <= rows; row++) {
            result.pack(band[row], size + 2, 1);
        }
        jpvm.pvm_send(result, jpvm.pvm_parent(), RESULT);
    }

    static void edge(jpvmEnvironment jpvm, double[] row, jpvmTaskId to) throws jpvmException {
        jpvmBuffer buffer = new jpvmBuffer();
        buffer.pack(row, row.length, 1);
        jpvm.pvm_send(buffer, to, EDGE);
    }
}
