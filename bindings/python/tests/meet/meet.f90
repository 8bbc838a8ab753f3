! meet put READER... | take WRITER...: values of all types for programs in other languages, and theirs.
! Fortran has no unsigned numbers: an integer of the same size has their bits.
program meet
    use neotuple_h
    implicit none
    character(len=*), parameter :: me = 'Fortran'
    integer(c_int32_t) :: space
    character(kind=c_char), target :: a_char = 'x', a_text(5) = ['w', 'o', 'r', 'd', 's']
    character(kind=c_char), target :: a_struct(8) = ['1', '2', '3', '4', '5', '6', '7', '8']
    integer(c_signed_char), target :: a_schar = -5_c_signed_char, a_uchar = -56_c_signed_char
    integer(c_signed_char), target :: a_bytes(3) = [0_c_signed_char, -1_c_signed_char, 16_c_signed_char]
    integer(c_short), target :: a_short = -300_c_short, a_ushort = -5536_c_short
    integer(c_int), target :: a_int = -70000, a_uint = -294967296
    integer(c_long), target :: a_long = -5000000000_c_long, a_ulong = 9000000000000000000_c_long
    integer(c_long_long), target :: a_longlong = -6000000000_c_long_long, a_ulonglong = 17000000000_c_long_long
    real(c_float), target :: a_float = 0.5
    real(c_double), target :: a_double = 0.1_c_double
    ! The padding of a long double is compared, too: it is all 0.
    integer(c_int64_t), target :: a_longdouble(2) = 0
    logical(c_bool), target :: a_bool = .true.
    complex(c_float_complex), target :: a_floatcomplex = (1.0, -2.0)
    complex(c_double_complex), target :: a_doublecomplex = (0.5_c_double, 3.0_c_double)
    integer(c_short), target :: shorts(3) = [1_c_short, -2_c_short, 3_c_short], ushorts(2) = [1_c_short, -5536_c_short]
    integer(c_int), target :: ints(3) = [1, -2, 3]
    integer(c_long), target :: longs(2) = [1_c_long, -5000000000_c_long]
    real(c_float), target :: floats(2) = [0.5, 1.5]
    real(c_double), target :: doubles(2) = [0.1_c_double, 2.5_c_double]
    character(len=32) :: word
    integer :: i

    call set_long_double()
    call ok(neotuple_open('meet' // c_null_char, 0, c_null_ptr, space))
    do i = 2, command_argument_count()
        call get_command_argument(i, word)
        call all(trim(word))
    end do

contains

    subroutine ok(status)
        integer(c_int32_t), intent(in) :: status
        if (status /= 0) error stop 'meet.f90: a call failed'
    end subroutine

    subroutine set_long_double()
        real(c_long_double), target :: value
        integer(c_int8_t), pointer :: from(:), to(:)
        type(c_ptr) :: of_value, of_bytes
        value = 0.5
        of_value = c_loc(value)
        of_bytes = c_loc(a_longdouble)
        call c_f_pointer(of_value, from, [10])
        call c_f_pointer(of_bytes, to, [16])
        to(1:10) = from
    end subroutine

    ! Values for a reader, or those of a writer.
    subroutine all(other)
        character(len=*), intent(in) :: other
        call one(other, 'char', NEOTUPLE_CHAR, c_loc(a_char), 1_c_int64_t)
        call one(other, 'schar', NEOTUPLE_SIGNED_CHAR, c_loc(a_schar), 1_c_int64_t)
        call one(other, 'uchar', NEOTUPLE_UNSIGNED_CHAR, c_loc(a_uchar), 1_c_int64_t)
        call one(other, 'short', NEOTUPLE_SHORT, c_loc(a_short), 2_c_int64_t)
        call one(other, 'ushort', NEOTUPLE_UNSIGNED_SHORT, c_loc(a_ushort), 2_c_int64_t)
        call one(other, 'int', NEOTUPLE_INT, c_loc(a_int), 4_c_int64_t)
        call one(other, 'uint', NEOTUPLE_UNSIGNED_INT, c_loc(a_uint), 4_c_int64_t)
        call one(other, 'long', NEOTUPLE_LONG, c_loc(a_long), 8_c_int64_t)
        call one(other, 'ulong', NEOTUPLE_UNSIGNED_LONG, c_loc(a_ulong), 8_c_int64_t)
        call one(other, 'longlong', NEOTUPLE_LONG_LONG, c_loc(a_longlong), 8_c_int64_t)
        call one(other, 'ulonglong', NEOTUPLE_UNSIGNED_LONG_LONG, c_loc(a_ulonglong), 8_c_int64_t)
        call one(other, 'float', NEOTUPLE_FLOAT, c_loc(a_float), 4_c_int64_t)
        call one(other, 'double', NEOTUPLE_DOUBLE, c_loc(a_double), 8_c_int64_t)
        call one(other, 'longdouble', NEOTUPLE_LONG_DOUBLE, c_loc(a_longdouble), 16_c_int64_t)
        call one(other, 'bool', NEOTUPLE_BOOL, c_loc(a_bool), 1_c_int64_t)
        call one(other, 'floatcomplex', NEOTUPLE_FLOAT_COMPLEX, c_loc(a_floatcomplex), 8_c_int64_t)
        call one(other, 'doublecomplex', NEOTUPLE_DOUBLE_COMPLEX, c_loc(a_doublecomplex), 16_c_int64_t)
        call one(other, 'text', NEOTUPLE_TEXT, c_loc(a_text), 5_c_int64_t)
        call one(other, 'bytes', NEOTUPLE_BYTES, c_loc(a_bytes), 3_c_int64_t)
        call one(other, 'struct', NEOTUPLE_STRUCT, c_loc(a_struct), 8_c_int64_t)
        call one(other, 'short[]', NEOTUPLE_SHORT, c_loc(shorts), 6_c_int64_t, 3_c_int64_t)
        call one(other, 'ushort[]', NEOTUPLE_UNSIGNED_SHORT, c_loc(ushorts), 4_c_int64_t, 2_c_int64_t)
        call one(other, 'int[]', NEOTUPLE_INT, c_loc(ints), 12_c_int64_t, 3_c_int64_t)
        call one(other, 'long[]', NEOTUPLE_LONG, c_loc(longs), 16_c_int64_t, 2_c_int64_t)
        call one(other, 'float[]', NEOTUPLE_FLOAT, c_loc(floats), 8_c_int64_t, 2_c_int64_t)
        call one(other, 'double[]', NEOTUPLE_DOUBLE, c_loc(doubles), 16_c_int64_t, 2_c_int64_t)
    end subroutine

    subroutine one(other, name, type, value, bytes, count)
        character(len=*), intent(in) :: other, name
        integer(c_int32_t), intent(in) :: type
        type(c_ptr), intent(in) :: value
        integer(c_int64_t), intent(in) :: bytes
        integer(c_int64_t), intent(in), optional :: count
        integer(c_int32_t) :: tuple, formal, found, taken
        character(len=32) :: what

        call get_command_argument(1, what)
        if (what == 'put') then
            call begin(tuple, me, other, name)
            call add(tuple, type, value, bytes, count)
            call ok(neotuple_out(space, tuple, NEOTUPLE_FOREVER, c_null_ptr))
            return
        end if
        call begin(tuple, other, me, name)
        call add(tuple, type, value, bytes, count)
        call begin(formal, other, me, name)
        call ok(neotuple_add_formal(formal, type, merge(NEOTUPLE_ARRAY, NEOTUPLE_SCALAR, present(count)), bytes))
        call ok(neotuple_rd(space, tuple, 0_c_int64_t, found))
        call ok(neotuple_in(space, formal, 0_c_int64_t, taken))
        if (found /= 0 .and. taken /= 0) then
            if (is_equal(taken, value, bytes)) print '(a,1x,a)', other, name
        end if

    end subroutine

    ! Adds a value, or with a number of items an array.
    subroutine add(tuple, type, value, bytes, count)
        integer(c_int32_t), intent(in) :: tuple, type
        type(c_ptr), intent(in) :: value
        integer(c_int64_t), intent(in) :: bytes
        integer(c_int64_t), intent(in), optional :: count
        if (type >= NEOTUPLE_TEXT) then
            call ok(neotuple_add_bytes(tuple, type, value, bytes))
        else if (present(count)) then
            call ok(neotuple_add_array(tuple, type, value, count))
        else
            call ok(neotuple_add(tuple, type, value))
        end if
    end subroutine

    subroutine begin(tuple, writer, reader, name)
        integer(c_int32_t), intent(out) :: tuple
        character(len=*), intent(in) :: writer, reader, name
        call ok(neotuple_new(tuple))
        call ok(neotuple_add_text(tuple, NEOTUPLE_TEXT, writer, len(writer, c_int64_t)))
        call ok(neotuple_add_text(tuple, NEOTUPLE_TEXT, reader, len(reader, c_int64_t)))
        call ok(neotuple_add_text(tuple, NEOTUPLE_TEXT, name, len(name, c_int64_t)))
    end subroutine

    logical function is_equal(tuple, value, bytes)
        integer(c_int32_t), intent(in) :: tuple
        type(c_ptr), intent(in) :: value
        integer(c_int64_t), intent(in) :: bytes
        type(neotuple_field_info) :: field
        integer(c_int8_t), pointer :: one(:), two(:)
        call ok(neotuple_field(tuple, 3_c_int64_t, field))
        is_equal = field%bytes == bytes
        if (.not. is_equal) return
        call c_f_pointer(value, one, [bytes])
        call c_f_pointer(field%data, two, [bytes])
        is_equal = count(one /= two) == 0
    end function
end program meet
