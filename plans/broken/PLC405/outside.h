#define SIZE 8
