import { AppShell, Badge, Box, Burger, Button, Group, Menu, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link } from '@tanstack/react-router'
import { type ReactNode, Suspense } from 'react'
import { UserIcon } from '../parts/icons.tsx'
import { Waiting } from '../parts/loaded.tsx'
import { sentenceCase } from '../words.ts'
import { FindButton } from './find-button.tsx'
import { Notices } from './notices.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

interface FrameProps {
  /** What the mark at the top stands for: the service, or the tenant. */
  readonly name: string
  readonly mode: 'live' | 'sandbox'
  readonly person: { readonly name: string; readonly role: string }
  readonly signOut: () => unknown
  /** What can be found, where there is room to say it. */
  readonly finds: string
  readonly onFind: () => void
  /** Between the search and the person. */
  readonly badge?: ReactNode
  readonly menu: (onGo: () => void) => ReactNode
  /** The page. */
  readonly children: ReactNode
}

/** Header, places and the page itself, of console and portal. */
export function Frame({ badge, children, menu, finds, onFind, ...of }: FrameProps) {
  const [navigating, navigation] = useDisclosure(false)
  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 224, breakpoint: 'sm', collapsed: { mobile: !navigating } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <AppShell.Header px={{ base: 'xs', sm: 'md' }}>
        <Group h="100%" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" className="brand">
            <Burger
              opened={navigating}
              onClick={navigation.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={navigating ? 'Close the navigation' : 'Open the navigation'}
              aria-expanded={navigating}
            />
            <Brand {...of} />
          </Group>
          <FindButton onClick={onFind}>{finds}</FindButton>
          <Group gap={6} wrap="nowrap" ml="auto">
            {badge}
            <ThemeSwitch />
            <Account {...of} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Places">
        {menu(navigation.close)}
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <Box maw={1400} mx="auto">
          <Notices />
          <Suspense fallback={<Waiting />}>{children}</Suspense>
        </Box>
      </AppShell.Main>
    </AppShell>
  )
}

function Brand({ name, mode }: Pick<FrameProps, 'name' | 'mode'>) {
  return (
    <>
      <Link to="/" aria-label={`${name}, Home`} className="brand-link">
        <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width={24} height={24} />
        <Text span fw={600} truncate visibleFrom="xs">
          {name}
        </Text>
      </Link>
      <Badge
        variant={mode === 'live' ? 'filled' : 'outline'}
        color={mode === 'live' ? 'red' : 'gray'}
        className="mark"
      >
        {mode}
      </Badge>
    </>
  )
}

function Account({ person: { name, role }, signOut }: Pick<FrameProps, 'person' | 'signOut'>) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="subtle" color="gray" px="xs" aria-label={`Signed in as ${name}, ${role}`}>
          <UserIcon />
          <Text span size="sm" ml={6} truncate maw={220} visibleFrom="md">
            {name} · {sentenceCase(role)}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          Signed in as <b>{name}</b>
          <br />
          Role: {role}
        </Menu.Label>
        <Menu.Item component={Link} to={'/account' as string}>
          Your account
        </Menu.Item>
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
