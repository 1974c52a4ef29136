import {
  Button,
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  Modal,
  Notification,
  rem,
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

/** Of the dark theme, from words to the ground: words, words beside, dimmed, placeholders, lines, hovered, raised, surface, sunken, canvas. */
const dark: MantineColorsTuple = [
  '#e9ebf1',
  '#bcc2cf',
  '#979fb0',
  '#8790a2',
  '#343a46',
  '#262b35',
  '#20242c',
  '#171a20',
  '#12151a',
  '#0e1014',
]

const size = (pixels: number, line: number) => ({ fontSize: rem(pixels), lineHeight: `${line / pixels}` })
const SECTION = size(14, 20)
const TITLE = size(20, 28)

/** System fonts only: nothing is loaded from elsewhere. */
export const theme = createTheme({
  primaryColor: 'brand',
  primaryShade: { light: 7, dark: 7 },
  black: '#171b2b',
  colors: { brand, dark },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  // Labels, tables, text, the title of a section on its own, and of a page.
  fontSizes: { xs: rem(12), sm: rem(13), md: rem(14), lg: rem(16), xl: rem(20) },
  lineHeights: { xs: '1.34', sm: '1.54', md: '1.43', lg: '1.5', xl: '1.4' },
  headings: {
    fontWeight: '600',
    sizes: { h1: TITLE, h2: TITLE, h3: size(16, 24), h4: SECTION, h5: SECTION, h6: SECTION },
  },
  radius: { sm: rem(4), md: rem(6), lg: rem(10) },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  respectReducedMotion: true,
  // White or black on a filled colour, whichever can be read.
  autoContrast: true,
  luminanceThreshold: 0.35,
  components: {
    // Beside a long text, the text gives way: the label of a button is never clipped.
    Button: Button.extend({ styles: { root: { flexShrink: 0, fontWeight: 500 } } }),
    SegmentedControl: { styles: { label: { fontWeight: 500 } } },
    Badge: { styles: { root: { fontWeight: 500 } } },
    Paper: { defaultProps: { radius: 'lg' } },
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

/** Words on a ground of their tone, by theme: what is done, what waits, what is bad, what is said, what is neither. */
const TONES = {
  light: {
    teal: ['#0a6638', '#e2f5ea'],
    orange: ['#854700', '#fdf0da'],
    yellow: ['#854700', '#fdf0da'],
    red: ['#a51d17', '#fdeae8'],
    blue: ['#2547b0', '#e7edfc'],
    indigo: ['#2547b0', '#e7edfc'],
    brand: ['#2f4bc0', '#e9eefd'],
    gray: ['#454d61', '#eceef2'],
    grape: ['#454d61', '#eceef2'],
  },
  dark: {
    teal: ['#7ddba5', '#11301f'],
    orange: ['#f1bd6c', '#38270c'],
    yellow: ['#f1bd6c', '#38270c'],
    red: ['#ff9c93', '#401a18'],
    blue: ['#a5b8ff', '#1d2849'],
    indigo: ['#a5b8ff', '#1d2849'],
    brand: ['#9db0ff', '#1f2947'],
    gray: ['#bcc2cf', '#282d37'],
    grape: ['#bcc2cf', '#282d37'],
  },
} as const

const tonesOf = (scheme: keyof typeof TONES): Record<string, string> =>
  Object.fromEntries(
    Object.entries(TONES[scheme]).flatMap(([name, [words, ground]]) => [
      [`--mantine-color-${name}-light-color`, words],
      [`--mantine-color-${name}-light`, ground],
      [`--mantine-color-${name}-light-hover`, `color-mix(in srgb, ${words} 8%, ${ground})`],
    ]),
  )

const FILLED_RED = {
  '--mantine-color-red-filled': 'var(--mantine-color-red-9)',
  '--mantine-color-red-filled-hover': 'color-mix(in srgb, var(--mantine-color-red-9) 88%, black)',
}

/** Three greys in each theme, and tones that can be read with ease. */
export const readable: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...FILLED_RED,
    ...tonesOf('light'),
    '--svc-canvas': '#f5f6f8',
    '--mantine-color-anchor': '#2f4bc0',
    '--mantine-color-dimmed': '#5a6274',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-6)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
  },
  dark: {
    ...FILLED_RED,
    ...tonesOf('dark'),
    '--svc-canvas': 'var(--mantine-color-dark-9)',
    '--mantine-color-anchor': '#9db0ff',
    '--mantine-color-dimmed': '#a3abbb',
    '--mantine-color-error': 'var(--mantine-color-red-4)',
  },
})
