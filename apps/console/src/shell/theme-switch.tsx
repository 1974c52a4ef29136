import { ActionIcon, type MantineColorScheme, Tooltip, useMantineColorScheme } from '@mantine/core'
import { AutoIcon, MoonIcon, SunIcon } from '../parts/icons.tsx'

const NEXT: Readonly<Record<MantineColorScheme, MantineColorScheme>> = {
  auto: 'light',
  light: 'dark',
  dark: 'auto',
}
const ICONS = { auto: AutoIcon, light: SunIcon, dark: MoonIcon }
const WORDS = { auto: 'as the system', light: 'light', dark: 'dark' }

/** Goes round: as the system says, light, dark. The browser remembers it. */
export function ThemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const Icon = ICONS[colorScheme]
  const label = `Colours: ${WORDS[colorScheme]}. Change to ${WORDS[NEXT[colorScheme]]}`
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="default"
        size="lg"
        aria-label={label}
        onClick={() => setColorScheme(NEXT[colorScheme])}
      >
        <Icon />
      </ActionIcon>
    </Tooltip>
  )
}
