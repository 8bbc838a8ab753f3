// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.neopvm.Code;
import org.neopvm.PvmException;
import org.neopvm.engine.Kind;

/** The messages of machines of every layout that the library in Rust is tested with (crates/pvm-wire/tests/golden.rs). */
class GoldenTest {
    private static final Path FILES = Path.of("../../crates/pvm-wire/tests/golden");
    private static final int RUN_BYTES = 8;

    /** One message of a file. */
    private static final class Vector {
        String name;
        int layout;
        int encoding;
        final ByteArrayOutputStream data = new ByteArrayOutputStream();
        final List<Long> runs = new ArrayList<>();
        long size;
        final List<String> reads = new ArrayList<>();

        private void take(String line) {
            String[] words = line.split(" ", 2);
            switch (words[0]) {
                case "layout" -> layout = List.of("", "little64", "little32", "big64", "big32").indexOf(words[1]);
                case "encoding" -> encoding = words[1].equals("default") ? 0 : 1;
                case "data" -> {
                    for (String octet : words[1].split(" ")) {
                        data.write(Integer.parseInt(octet, 16));
                    }
                }
                case "run" -> {
                    String[] run = words[1].split(" ");
                    runs.add(Long.parseLong(run[0]) << 56 | Long.parseLong(run[1]));
                }
                case "size" -> size = Long.parseLong(words[1]);
                case "read", "fails" -> reads.add(line);
                default -> throw new IllegalArgumentException(line);
            }
        }

        /** As it would come over the socket. */
        private byte[] message() {
            boolean listed = encoding == 0;
            long first = runs.isEmpty() ? 0 : runs.get(0);
            int count = listed ? runs.size() : 0;
            int list = count > 1 ? count * RUN_BYTES : 0;
            ByteBuffer bytes = ByteBuffer.allocate(56 + 4 + data.size() + list).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putInt(0x40001).putInt(0x80001).putInt(1).putInt(0);
            bytes.put((byte) encoding).put((byte) layout).putShort((short) 0).putInt(count).putInt(0).putInt(0);
            bytes.putLong(data.size()).putLong(first).putLong(9);
            bytes.putInt(data.size() + list).put(data.toByteArray());
            if (list > 0) {
                runs.forEach(bytes::putLong);
            }
            return bytes.array();
        }

        private void check() {
            try (WireIncoming message = Answer.message(new Reader(message()), null, () -> name)) {
                assertEquals(size, encoding == 0 ? message.info().bytes() : data.size(), name);
                reads.forEach(line -> check(message, line));
            }
        }

        private void check(WireIncoming message, String line) {
            String[] words = line.split(" ", 3);
            if (words[0].equals("fails")) {
                int count = Integer.parseInt(words[2].split(" ")[0]);
                Kind kind = kind(words[1]);
                PvmException failure = assertThrows(
                        PvmException.class, () -> message.unpack(kind, array(kind, count), 0, count, 1), name);
                assertEquals(Code.NO_DATA, failure.code(), name);
                return;
            }
            String[] values = words[2].split(" ");
            int count = values.length;
            Kind kind = kind(words[1]);
            Object items = array(kind, count);
            message.unpack(kind, items, 0, count, 1);
            assertArrayEquals(bytes(kind, expected(kind, values)), bytes(kind, items), name + ": " + line);
        }
    }

    private static Kind kind(String name) {
        return switch (name) {
            case "byte" -> Kind.BYTE;
            case "short" -> Kind.SHORT;
            case "ushort" -> Kind.CHAR;
            case "int", "uint" -> Kind.INT;
            case "float", "cplx" -> Kind.FLOAT;
            case "double", "dcplx" -> Kind.DOUBLE;
            case "long", "ulong" -> Kind.LONG;
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Object array(Kind kind, int count) {
        return switch (kind) {
            case BYTE -> new byte[count];
            case SHORT -> new short[count];
            case CHAR -> new char[count];
            case INT -> new int[count];
            case FLOAT -> new float[count];
            case DOUBLE -> new double[count];
            case LONG -> new long[count];
        };
    }

    private static Object expected(Kind kind, String[] values) {
        Object items = array(kind, values.length);
        for (int i = 0; i < values.length; i++) {
            switch (kind) {
                case FLOAT -> ((float[]) items)[i] = (float) Double.parseDouble(values[i]);
                case DOUBLE -> ((double[]) items)[i] = Double.parseDouble(values[i]);
                default -> {
                    long value = new BigInteger(values[i]).longValue();
                    switch (kind) {
                        case BYTE -> ((byte[]) items)[i] = (byte) value;
                        case SHORT -> ((short[]) items)[i] = (short) value;
                        case CHAR -> ((char[]) items)[i] = (char) value;
                        case INT -> ((int[]) items)[i] = (int) value;
                        default -> ((long[]) items)[i] = value;
                    }
                }
            }
        }
        return items;
    }

    private static byte[] bytes(Kind kind, Object items) {
        int count = java.lang.reflect.Array.getLength(items);
        byte[] bytes = new byte[count * kind.size()];
        Items.toBytes(kind, items, 0, count, 1, bytes, 0);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(strings = {"little64", "little32", "big64", "big32"})
    void messagesOfAllMachinesAreRead(String file) throws IOException {
        List<Vector> all = new ArrayList<>();
        for (String line : Files.readAllLines(FILES.resolve(file + ".txt"))) {
            if (line.startsWith("message ")) {
                all.add(new Vector());
                all.get(all.size() - 1).name = file + ", " + line;
            } else if (!line.isEmpty() && !line.startsWith("#")) {
                all.get(all.size() - 1).take(line);
            }
        }
        assertTrue(all.size() > 10, all.size() + " messages");
        all.forEach(Vector::check);
    }

    @ParameterizedTest
    @ValueSource(strings = {"little64", "little32", "big64", "big32"})
    void aMessageThatWasCutIsRefusedAndReservesNothing(String file) throws IOException {
        List<String> lines = Files.readAllLines(FILES.resolve(file + ".txt"));
        Vector vector = new Vector();
        vector.name = file;
        int begin = lines.indexOf("message every type, one call each") + 1;
        for (String line : lines.subList(begin, lines.size())) {
            if (line.startsWith("message ")) {
                break;
            }
            if (!line.isEmpty() && !line.startsWith("#")) {
                vector.take(line);
            }
        }
        byte[] whole = vector.message();
        for (int size = 0; size < whole.length; size++) {
            byte[] cut = java.util.Arrays.copyOf(whole, size);
            PvmException failure = assertThrows(
                    PvmException.class, () -> Answer.message(new Reader(cut), null, () -> "a cut message"));
            assertEquals(Code.BAD_MSG, failure.code());
        }
        // Whatever the first bytes say, nothing but a refusal or a message comes of it.
        for (int at = 0; at < 60; at++) {
            for (int bits : new int[] {0x01, 0x40, 0x80, 0xff}) {
                byte[] wrong = whole.clone();
                wrong[at] ^= (byte) bits;
                try {
                    Answer.message(new Reader(wrong), null, () -> "a wrong message").close();
                } catch (PvmException e) {
                    assertEquals(Code.BAD_MSG, e.code());
                }
            }
        }
    }
}
