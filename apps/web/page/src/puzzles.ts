// Puzzles: positions with exact values in which one move keeps the win, the easy ones first.

/** By game: position and move. */
export const PUZZLES: Record<string, [position: string, move: string][]> = {
  mu_torere: [
    ['222101121 2 0', '1-4'],
    ['221101221 1 0', '5-4'],
    ['121102122 1 0', '3-4'],
    ['112201221 2 0', '6-4'],
    ['112101222 1 0', '0-4'],
    ['111202221 1 0', '1-4'],
  ],
  mancala: [
    ['6,0,2,3,8,3/4 1,7,0,7,1,3/3 2', 'A2'],
    ['0,7,1,2,0,8/4 2,7,1,1,5,7/3 2', 'A6'],
    ['0,2,5,1,0,4/16 2,0,3,0,1,1/13 1', 'B5'],
    ['2,1,1,13,1,0/9 3,0,2,1,2,1/12 2', 'A2'],
    ['2,2,10,1,3,0/13 1,1,2,0,4,0/9 1', 'B6'],
    ['1,1,2,2,3,2/14 1,11,0,2,2,2/5 1', 'B3'],
  ],
  morris: [
    ['xxxBWxxxBxxBWxWBWx W 4 4 - 0', 'd5'],
    ['xWxxWxBBBBxWWBWBWx W 0 0 - 0', 'd6-g6'],
    ['xxBWxWxxWBBWxBxBxx B 0 0 - 0', 'b1-b5'],
    ['xxxBWWxWxxxxBWBxxx B 4 5 - 0', 'a6'],
    ['WxWBxxBxxWWxxBWBWB B 2 3 - 0', 'e4'],
    ['xBxBWWWWWBBBxWxBWx B 1 1 x 0', 'xe2'],
  ],
  konane: [
    ['XOXOXO../OX...X../......X./O.O...../X...X.../..OX.X.X/XO....../O..XO.O. O', 'f8-f6'],
    ['X....OXO/.....XOX/...OXOX./...X...X/XO..XOXO/.....X../.OX..O.O/O.OX..OX O', 'd6-d4'],
    ['.O.O..../O.O...../X......./.......X/..X..OX./O..X..../X..OX..O/OX.X.X.. O', 'a7-a5'],
    ['X....OX./O.O....X/XOX..O../O......./X.X...X./...X..../.....O.O/O.....O. O', 'b6-d6'],
    ['XO.O.OXO/.....X.X/XOXOXO../O..X..../..XO.O../O....X.X/XO....X./..O.O..X X', 'd5-d3'],
    ['XO.O.O.O/.....X.X/......X./O......X/......X./.......X/...O...O/....O..X O', 'h8-h6'],
  ],
  morabaraba: [
    ['.B.W.WBW.....B.....W...B W 0 0 - 1 0 - -', 'c4-b4'],
    ['.BBB..W.B......W..W...W. W 0 0 - 0 0 - -', 'g4-g1'],
    ['B.W.B.W......B.B..W.W... B 0 0 - 22 0 - -', 'd6-b6'],
    ['.WB..BB.W...B.W....W.... B 0 0 - 5 0 - -', 'b6-b4'],
    ['WW.W...B.BB.........W..B W 0 0 - 0 0 - -', 'b2-c3'],
    ['B.W...B....WB...B.WW.... B 0 0 - 14 0 - -', 'c3-c4'],
  ],
};
