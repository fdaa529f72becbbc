NAME          TWO WORDS
ROWS
 N  COST
 G  ROW ONE
 L  ROW TWO
COLUMNS
    MARKER    'MARKER'                 'INTORG'
    COL ONE   COST                 1   ROW ONE              1
    COL ONE   ROW TWO              1
    MARKER    'MARKER'                 'INTEND'
    COL TWO   COST                 2   ROW ONE              1
RHS
    RHS       ROW ONE            2.5   ROW TWO              1
BOUNDS
 UP BND       COL ONE              4
ENDATA
