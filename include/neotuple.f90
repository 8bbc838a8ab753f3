! SPDX-License-Identifier: MIT OR Apache-2.0
!
! neotuple.f90 - neotuple.h for Fortran 2003: the same calls, constants and structures.
!
! Compile this file with your program and link with -lpvm3. neotuple.h describes the calls. Data go
! by c_loc, so variables that are passed have the attribute target; names of spaces end with
! c_null_char. A call whose result may be left out takes c_null_ptr for it: those results are passed
! by c_loc, too.
module neotuple_h
    use, intrinsic :: iso_c_binding
    implicit none

    integer(c_int32_t), parameter :: NEOTUPLE_INTERFACE_VERSION = 4

    integer(c_int32_t), parameter :: NEOTUPLE_OK = 0
    integer(c_int32_t), parameter :: NEOTUPLE_BAD_PARAMETER = -2
    integer(c_int32_t), parameter :: NEOTUPLE_MISMATCH = -3
    integer(c_int32_t), parameter :: NEOTUPLE_TOO_LARGE = -4
    integer(c_int32_t), parameter :: NEOTUPLE_NO_SERVER = -7
    integer(c_int32_t), parameter :: NEOTUPLE_NO_MEMORY = -10
    integer(c_int32_t), parameter :: NEOTUPLE_NO_MACHINE = -14
    integer(c_int32_t), parameter :: NEOTUPLE_DISK = -15
    integer(c_int32_t), parameter :: NEOTUPLE_LOST = -22
    integer(c_int32_t), parameter :: NEOTUPLE_NO_ANSWER = -25
    integer(c_int32_t), parameter :: NEOTUPLE_FULL = -27
    integer(c_int32_t), parameter :: NEOTUPLE_CLAIM_OVER = -31
    integer(c_int32_t), parameter :: NEOTUPLE_NO_SPACE = -32
    integer(c_int32_t), parameter :: NEOTUPLE_EXISTS = -33

    integer(c_int64_t), parameter :: NEOTUPLE_FOREVER = -1

    integer(c_int32_t), parameter :: NEOTUPLE_CHAR = 1
    integer(c_int32_t), parameter :: NEOTUPLE_SIGNED_CHAR = 2
    integer(c_int32_t), parameter :: NEOTUPLE_UNSIGNED_CHAR = 3
    integer(c_int32_t), parameter :: NEOTUPLE_SHORT = 4
    integer(c_int32_t), parameter :: NEOTUPLE_UNSIGNED_SHORT = 5
    integer(c_int32_t), parameter :: NEOTUPLE_INT = 6
    integer(c_int32_t), parameter :: NEOTUPLE_UNSIGNED_INT = 7
    integer(c_int32_t), parameter :: NEOTUPLE_LONG = 8
    integer(c_int32_t), parameter :: NEOTUPLE_UNSIGNED_LONG = 9
    integer(c_int32_t), parameter :: NEOTUPLE_LONG_LONG = 10
    integer(c_int32_t), parameter :: NEOTUPLE_UNSIGNED_LONG_LONG = 11
    integer(c_int32_t), parameter :: NEOTUPLE_FLOAT = 12
    integer(c_int32_t), parameter :: NEOTUPLE_DOUBLE = 13
    integer(c_int32_t), parameter :: NEOTUPLE_LONG_DOUBLE = 14
    integer(c_int32_t), parameter :: NEOTUPLE_BOOL = 15
    integer(c_int32_t), parameter :: NEOTUPLE_FLOAT_COMPLEX = 16
    integer(c_int32_t), parameter :: NEOTUPLE_DOUBLE_COMPLEX = 17
    integer(c_int32_t), parameter :: NEOTUPLE_TEXT = 32
    integer(c_int32_t), parameter :: NEOTUPLE_BYTES = 33
    integer(c_int32_t), parameter :: NEOTUPLE_STRUCT = 34

    integer(c_int32_t), parameter :: NEOTUPLE_SCALAR = 0
    integer(c_int32_t), parameter :: NEOTUPLE_ARRAY = 1
    integer(c_int32_t), parameter :: NEOTUPLE_FIELDS_MAX = 255

    ! Flags of neotuple_open.
    integer(c_int32_t), parameter :: NEOTUPLE_CREATE = 1
    integer(c_int32_t), parameter :: NEOTUPLE_MUST_BE_NEW = 2
    integer(c_int32_t), parameter :: NEOTUPLE_OWNED = 4

    integer(c_int32_t), parameter :: NEOTUPLE_WAIT = 0
    integer(c_int32_t), parameter :: NEOTUPLE_FAIL = 1
    integer(c_int32_t), parameter :: NEOTUPLE_SPILL = 2

    type, bind(c) :: neotuple_options
        integer(c_int32_t) :: size = 24
        integer(c_int32_t) :: copies = 0
        integer(c_int64_t) :: limit_bytes = 0
        integer(c_int32_t) :: when_full = 0
        integer(c_int32_t) :: reserved = 0
    end type neotuple_options

    type, bind(c) :: neotuple_field_info
        integer(c_int32_t) :: type
        integer(c_int32_t) :: shape
        integer(c_int32_t) :: formal
        integer(c_int32_t) :: reserved
        integer(c_int64_t) :: count
        integer(c_int64_t) :: bytes
        type(c_ptr) :: data
    end type neotuple_field_info

    interface
        function neotuple_interface() bind(c) result(version)
            import :: c_int32_t
            integer(c_int32_t) :: version
        end function

        function neotuple_text_of(status) bind(c, name='neotuple_text') result(text)
            import :: c_int32_t, c_ptr
            integer(c_int32_t), value :: status
            type(c_ptr) :: text
        end function

        ! `options` is c_null_ptr or c_loc of a neotuple_options.
        function neotuple_open(name, flags, options, space) bind(c) result(status)
            import :: c_int32_t, c_char, c_ptr
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int32_t), value :: flags
            type(c_ptr), value :: options
            integer(c_int32_t), intent(out) :: space
            integer(c_int32_t) :: status
        end function

        ! `options` as for neotuple_open; `note` is c_null_ptr or c_loc of `room` characters.
        function neotuple_create_durable(name, options, directory, sync_every_ns, note, room, space) &
                bind(c) result(status)
            import :: c_int32_t, c_int64_t, c_char, c_ptr
            character(kind=c_char), intent(in) :: name(*), directory(*)
            type(c_ptr), value :: options, note
            integer(c_int64_t), value :: sync_every_ns, room
            integer(c_int32_t), intent(out) :: space
            integer(c_int32_t) :: status
        end function

        function neotuple_close(space) bind(c) result(status)
            import :: c_int32_t
            integer(c_int32_t), value :: space
            integer(c_int32_t) :: status
        end function

        function neotuple_delete(name) bind(c) result(status)
            import :: c_int32_t, c_char
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int32_t) :: status
        end function

        function neotuple_new(tuple) bind(c) result(status)
            import :: c_int32_t
            integer(c_int32_t), intent(out) :: tuple
            integer(c_int32_t) :: status
        end function

        function neotuple_free(tuple) bind(c) result(status)
            import :: c_int32_t
            integer(c_int32_t), value :: tuple
            integer(c_int32_t) :: status
        end function

        function neotuple_clear(tuple) bind(c) result(status)
            import :: c_int32_t
            integer(c_int32_t), value :: tuple
            integer(c_int32_t) :: status
        end function

        function neotuple_add(tuple, type, value_) bind(c) result(status)
            import :: c_int32_t, c_ptr
            integer(c_int32_t), value :: tuple, type
            type(c_ptr), value :: value_
            integer(c_int32_t) :: status
        end function

        function neotuple_add_array(tuple, type, items, count) bind(c) result(status)
            import :: c_int32_t, c_int64_t, c_ptr
            integer(c_int32_t), value :: tuple, type
            type(c_ptr), value :: items
            integer(c_int64_t), value :: count
            integer(c_int32_t) :: status
        end function

        function neotuple_add_bytes(tuple, type, data, bytes) bind(c) result(status)
            import :: c_int32_t, c_int64_t, c_ptr
            integer(c_int32_t), value :: tuple, type
            type(c_ptr), value :: data
            integer(c_int64_t), value :: bytes
            integer(c_int32_t) :: status
        end function

        ! A text as Fortran has it: its first `bytes` characters.
        function neotuple_add_text(tuple, type, text, bytes) bind(c, name='neotuple_add_bytes') &
                result(status)
            import :: c_int32_t, c_int64_t, c_char
            integer(c_int32_t), value :: tuple, type
            character(kind=c_char), intent(in) :: text(*)
            integer(c_int64_t), value :: bytes
            integer(c_int32_t) :: status
        end function

        function neotuple_add_formal(tuple, type, shape, bytes) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: tuple, type, shape
            integer(c_int64_t), value :: bytes
            integer(c_int32_t) :: status
        end function

        function neotuple_fields(tuple, count) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: tuple
            integer(c_int64_t), intent(out) :: count
            integer(c_int32_t) :: status
        end function

        ! `index` is counted from 0.
        function neotuple_field(tuple, index, field) bind(c) result(status)
            import :: c_int32_t, c_int64_t, neotuple_field_info
            integer(c_int32_t), value :: tuple
            integer(c_int64_t), value :: index
            type(neotuple_field_info), intent(out) :: field
            integer(c_int32_t) :: status
        end function

        function neotuple_get(tuple, index, type, shape, data, room, count) bind(c) result(status)
            import :: c_int32_t, c_int64_t, c_ptr
            integer(c_int32_t), value :: tuple, type, shape
            integer(c_int64_t), value :: index, room
            type(c_ptr), value :: data, count
            integer(c_int32_t) :: status
        end function

        function neotuple_out(space, tuple, limit_ns, put) bind(c) result(status)
            import :: c_int32_t, c_int64_t, c_ptr
            integer(c_int32_t), value :: space, tuple
            integer(c_int64_t), value :: limit_ns
            type(c_ptr), value :: put
            integer(c_int32_t) :: status
        end function

        function neotuple_out_all(space, tuples, count, limit_ns, put) bind(c) result(status)
            import :: c_int32_t, c_int64_t, c_ptr
            integer(c_int32_t), value :: space
            integer(c_int32_t), intent(in) :: tuples(*)
            integer(c_int64_t), value :: count, limit_ns
            type(c_ptr), value :: put
            integer(c_int32_t) :: status
        end function

        function neotuple_in(space, template_, limit_ns, tuple) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: space, template_
            integer(c_int64_t), value :: limit_ns
            integer(c_int32_t), intent(out) :: tuple
            integer(c_int32_t) :: status
        end function

        function neotuple_rd(space, template_, limit_ns, tuple) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: space, template_
            integer(c_int64_t), value :: limit_ns
            integer(c_int32_t), intent(out) :: tuple
            integer(c_int32_t) :: status
        end function

        function neotuple_count(space, template_, count) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: space, template_
            integer(c_int64_t), intent(out) :: count
            integer(c_int32_t) :: status
        end function

        function neotuple_collect(space, template_, tuples, room, count) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: space, template_
            integer(c_int32_t), intent(out) :: tuples(*)
            integer(c_int64_t), value :: room
            integer(c_int64_t), intent(out) :: count
            integer(c_int32_t) :: status
        end function

        function neotuple_copy(space, template_, tuples, room, count) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: space, template_
            integer(c_int32_t), intent(out) :: tuples(*)
            integer(c_int64_t), value :: room
            integer(c_int64_t), intent(out) :: count
            integer(c_int32_t) :: status
        end function

        function neotuple_claim(space, template_, limit_ns, lease_ns, tuple) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: space, template_
            integer(c_int64_t), value :: limit_ns, lease_ns
            integer(c_int32_t), intent(out) :: tuple
            integer(c_int32_t) :: status
        end function

        ! `tuples` is c_null_ptr if `count` is 0, and otherwise c_loc of that many handles.
        function neotuple_done(space, claimed, tuples, count) bind(c) result(status)
            import :: c_int32_t, c_int64_t, c_ptr
            integer(c_int32_t), value :: space, claimed
            type(c_ptr), value :: tuples
            integer(c_int64_t), value :: count
            integer(c_int32_t) :: status
        end function

        function neotuple_give_back(space, claimed) bind(c) result(status)
            import :: c_int32_t
            integer(c_int32_t), value :: space, claimed
            integer(c_int32_t) :: status
        end function

        function neotuple_renew(space, claimed, lease_ns) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: space, claimed
            integer(c_int64_t), value :: lease_ns
            integer(c_int32_t) :: status
        end function

        function neotuple_done_all(space, tuples, count) bind(c) result(status)
            import :: c_int32_t, c_int64_t, c_ptr
            integer(c_int32_t), value :: space
            type(c_ptr), value :: tuples
            integer(c_int64_t), value :: count
            integer(c_int32_t) :: status
        end function

        function neotuple_tries(tuple, tries) bind(c) result(status)
            import :: c_int32_t, c_int64_t
            integer(c_int32_t), value :: tuple
            integer(c_int64_t), intent(out) :: tries
            integer(c_int32_t) :: status
        end function
    end interface
end module neotuple_h
