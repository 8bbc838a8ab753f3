! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The official classes of LU (NAS-95-020) and the values that verify them: root mean squares of the
! residual and of the error for the five equations, and the surface integral.
module lu_classes
  use fluid, only: dp
  implicit none
  private
  public :: class_t

  type class_t
     character :: letter
     integer :: points, iterations
     real(dp) :: step, residual(5), error(5), surface
  end type class_t

  type(class_t), parameter :: class_s = class_t('S', 12, 50, 0.5_dp, &
       [1.6196343210976702e-02_dp, 2.1976745164821318e-03_dp, &
       1.5179927653399185e-03_dp, 1.5029584435994323e-03_dp, &
       3.4264073155896461e-02_dp], &
       [6.4223319957960924e-04_dp, 8.4144342047347926e-05_dp, &
       5.8588269616485186e-05_dp, 5.8474222595157350e-05_dp, &
       1.3103347914111294e-03_dp], &
       7.8418928865937083_dp)
  type(class_t), parameter :: class_w = class_t('W', 33, 300, 1.5e-3_dp, &
       [0.1236511638192e02_dp, 0.1317228477799e01_dp, &
       0.2550120713095e01_dp, 0.2326187750252e01_dp, &
       0.2826799444189e02_dp], &
       [0.4867877144216_dp, 0.5064652880982e-01_dp, &
       0.9281818101960e-01_dp, 0.8570126542733e-01_dp, &
       0.1084277417792e01_dp], &
       0.1161399311023e02_dp)
  type(class_t), parameter :: class_a = class_t('A', 64, 250, 2.0_dp, &
       [7.7902107606689367e02_dp, 6.3402765259692870e01_dp, &
       1.9499249727292479e02_dp, 1.7845301160418537e02_dp, &
       1.8384760349464247e03_dp], &
       [2.9964085685471943e01_dp, 2.8194576365003349_dp, &
       7.3473412698774742_dp, 6.7139225687777051_dp, &
       7.0715315688392578e01_dp], &
       2.6030925604886277e01_dp)
  type(class_t), parameter :: class_b = class_t('B', 102, 250, 2.0_dp, &
       [3.5532672969982736e03_dp, 2.6214750795310692e02_dp, &
       8.8333721850952190e02_dp, 7.7812774739425265e02_dp, &
       7.3087969592545314e03_dp], &
       [1.1401176380212709e02_dp, 8.1098963655421574_dp, &
       2.8480597317698308e01_dp, 2.5905394567832939e01_dp, &
       2.6054907504857413e02_dp], &
       4.7887162703308227e01_dp)

  type(class_t), parameter, public :: classes(4) = [class_s, class_w, class_a, class_b]

end module lu_classes
