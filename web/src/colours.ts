// Colours that people with any kind of sight tell apart (Okabe and Ito), for light and dark.

export const MODE_COLOURS = ['#8a8f98', '#009e73', '#e69f00'];
export const NOT_UNIQUE = '#b05a9a';
export const JOINT = '#0072b2';
export const EVENT_COLOURS: Record<string, string> = {
  impact: '#0072b2', open: '#8a8f98', slide: '#e69f00', stick: '#009e73', accumulation: '#56b4e9',
  jam: '#d55e00', indeterminate: '#b05a9a', branch: '#b05a9a', impulse: '#0072b2',
};
export const LINES = ['#0072b2', '#d55e00', '#009e73', '#b05a9a', '#e69f00', '#56b4e9', '#8a8f98', '#a6761d', '#333f8f'];
/** Bodies that move, one after the other; those that stand still are grey. */
const BODIES = ['#7aa5c9', '#d99a6c', '#8dbb9a', '#bf9cc4', '#d9c26c', '#8fb8b8', '#c98a8a', '#a3a8b5'];

export function bodyColour(index: number, fixed: boolean): string {
  return fixed ? '#b4b8bf' : BODIES[index % BODIES.length];
}

export interface Theme { dark: boolean; paper: string; ink: string; muted: string; grid: string; floor: string }

export const LIGHT: Theme = { dark: false, paper: '#f4f5f7', ink: '#1c2127', muted: '#667080', grid: '#d5d9df', floor: '#dfe3e8' };
export const DARK: Theme = { dark: true, paper: '#14171b', ink: '#e7eaee', muted: '#98a2b0', grid: '#333a43', floor: '#22272e' };
