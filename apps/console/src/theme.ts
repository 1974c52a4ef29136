import {
  Button,
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  Modal,
  Notification,
} from '@mantine/core'

const brand: MantineColorsTuple = [
  '#edf2ff',
  '#dbe4ff',
  '#bac8ff',
  '#91a7ff',
  '#748ffc',
  '#5c7cfa',
  '#4c6ef5',
  '#3b5bdb',
  '#364fc7',
  '#2b3f9e',
]

/** The list of options scrolls itself, moved by the field that opened it; a region around it could not be reached by keys. */
const LIST = {
  defaultProps: { withScrollArea: false },
  styles: { options: { maxHeight: 220, overflowY: 'auto' } },
} as const

/** System fonts only: nothing is loaded from elsewhere. */
export const theme = createTheme({
  primaryColor: 'brand',
  primaryShade: { light: 7, dark: 7 },
  colors: { brand },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: '650' },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  // White or black on a filled colour, whichever can be read.
  autoContrast: true,
  luminanceThreshold: 0.35,
  components: {
    // Beside a long text, the text gives way: the label of a button is never clipped.
    Button: Button.extend({ styles: { root: { flexShrink: 0 } } }),
    // Their crosses have no words.
    Notification: Notification.extend({
      defaultProps: { closeButtonProps: { 'aria-label': 'Close notification' } },
    }),
    // By name: most pages have none, and need not load them.
    MultiSelect: LIST,
    Select: LIST,
    Modal: Modal.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close dialog' } } }),
  },
})

const COLORS = ['brand', 'teal', 'orange', 'red', 'yellow', 'grape', 'gray', 'blue']
const forEach = (make: (color: string) => string, names = COLORS) =>
  Object.fromEntries(names.map((color) => [`--mantine-color-${color}-light-color`, make(color)]))

const FILLED_RED = {
  '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
  '--mantine-color-red-filled-hover': 'color-mix(in srgb, var(--mantine-color-red-9) 88%, black)',
}

/**
 * Coloured words on a light ground of their colour, and dimmed ones, are a shade too pale in the theme to be read with
 * ease, and so is the ground of white words on red.
 */
export const readable: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...FILLED_RED,
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    ...forEach((color) => `color-mix(in srgb, var(--mantine-color-${color}-9) 65%, black)`),
  },
  dark: {
    ...FILLED_RED,
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
    ...forEach((color) => `color-mix(in srgb, var(--mantine-color-${color}-3) 70%, white)`),
  },
})
