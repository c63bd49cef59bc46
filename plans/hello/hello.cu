#include <stdio.h>

__global__ void hello(int number) {
  printf("hello, the number is %d\n", number);
}
