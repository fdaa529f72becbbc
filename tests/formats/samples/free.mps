* a knapsack with a continuous column, a range and a constant
NAME knapsack
OBJSENSE
    MAX
ROWS
 N profit
 L weight
 G least
COLUMNS
 M1 'MARKER' 'INTORG'
 x profit 5 weight 3
 y profit 4 weight 2
 y least 1
 M2 'MARKER' 'INTEND'
 z profit 0.5 weight 1
RHS
 R weight 7.5 least 1
 R profit -10
RANGES
 R weight 6
BOUNDS
 UP B x 2
 UP B y 2
 UP B z 4
ENDATA
