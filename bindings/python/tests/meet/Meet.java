import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.neopvm.Field;
import org.neopvm.FieldType;
import org.neopvm.Pvm;
import org.neopvm.Space;

/** {@code Meet put READER... | take WRITER...}: values of all types for programs in other languages, and theirs. */
public final class Meet {
    /** A value as it is put, the formal that it fits, and what Java gives for it. */
    private record Case(String name, Object actual, Object formal, Object expected) {}

    private static final List<Case> CASES = new ArrayList<>();

    private static void own(String name, Object value, Class<?> kind) {
        CASES.add(new Case(name, value, kind, value));
    }

    private static void typed(String name, FieldType type, Object value) {
        CASES.add(new Case(name, Field.of(type, value), Field.any(type), value));
    }

    private static byte[] bytes(String digits) {
        return HexFormat.of().parseHex(digits);
    }

    static {
        typed("char", FieldType.CHAR, (byte) 'x');
        own("schar", (byte) -5, byte.class);
        typed("uchar", FieldType.UNSIGNED_CHAR, (short) 200);
        own("short", (short) -300, short.class);
        own("ushort", (char) 60000, char.class);
        own("int", -70000, int.class);
        typed("uint", FieldType.UNSIGNED_INT, 4000000000L);
        own("long", -5000000000L, long.class);
        typed("ulong", FieldType.UNSIGNED_LONG, 9000000000000000000L);
        typed("longlong", FieldType.LONG_LONG, -6000000000L);
        typed("ulonglong", FieldType.UNSIGNED_LONG_LONG, 17000000000L);
        own("float", 0.5f, float.class);
        own("double", 0.1, double.class);
        typed("longdouble", FieldType.LONG_DOUBLE, bytes("0000000000000080fe3f000000000000"));
        own("bool", true, boolean.class);
        typed("floatcomplex", FieldType.FLOAT_COMPLEX, new float[] {1, -2});
        typed("doublecomplex", FieldType.DOUBLE_COMPLEX, new double[] {0.5, 3});
        own("text", "words", String.class);
        own("bytes", bytes("00ff10"), byte[].class);
        CASES.add(new Case("struct", Field.of(FieldType.STRUCT, bytes("3132333435363738")), Field.anyStruct(8),
                bytes("3132333435363738")));
        own("short[]", new short[] {1, -2, 3}, short[].class);
        own("ushort[]", new char[] {1, 60000}, char[].class);
        own("int[]", new int[] {1, -2, 3}, int[].class);
        own("long[]", new long[] {1, -5000000000L}, long[].class);
        own("float[]", new float[] {0.5f, 1.5f}, float[].class);
        own("double[]", new double[] {0.1, 2.5}, double[].class);
    }

    private Meet() {}

    private static void take(Space space, String writer, Case one) throws InterruptedException {
        boolean fits = space.read(Duration.ZERO, writer, "Java", one.name, one.actual).isPresent();
        var row = space.take(Duration.ZERO, writer, "Java", one.name, one.formal);
        if (fits && row.isPresent() && Objects.deepEquals(row.get().get(3), one.expected)) {
            System.out.println(writer + " " + one.name);
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        try (Pvm pvm = Pvm.connect()) {
            Space space = pvm.space("meet");
            for (Case one : CASES) {
                for (int i = 1; i < arguments.length; i++) {
                    if (arguments[0].equals("put")) {
                        space.out("Java", arguments[i], one.name, one.actual);
                    } else {
                        take(space, arguments[i], one);
                    }
                }
            }
        }
    }
}
