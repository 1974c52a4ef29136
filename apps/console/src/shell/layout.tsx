import { AppShell, Badge, Box, Burger, Button, Group, Menu, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link, Navigate, Outlet, useLocation } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useState } from 'react'
import { UserIcon } from '../parts/icons.tsx'
import { Waiting } from '../parts/loaded.tsx'
import { useSession, useSignOut } from '../session.ts'
import { CONSOLE_FIND } from './acts.ts'
import { AlertBadge } from './alert-badge.tsx'
import { useAreas } from './areas.ts'
import { Find } from './find.tsx'
import { FindButton } from './find-button.tsx'
import { Navigation } from './navigation.tsx'
import { Notices } from './notices.tsx'
import { Shortcuts } from './shortcuts.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

// Needed seldom, so it is not part of the first load; lazyPart would bring what it needs into it.
const StepUp = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUp }))

/** Header, places and the page itself. */
export function Layout() {
  const [navigating, navigation] = useDisclosure(false)
  const [finding, find] = useDisclosure(false)
  const [pasted, setPasted] = useState('')
  const areas = useAreas()
  const search = useCallback(
    (text = '') => {
      setPasted(text)
      find.open()
    },
    [find.open],
  )
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !navigating } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <AppShell.Header px={{ base: 'xs', sm: 'md' }}>
        <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={navigating}
              onClick={navigation.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={navigating ? 'Close the navigation' : 'Open the navigation'}
              aria-expanded={navigating}
            />
            <Brand />
          </Group>
          <Group gap={6} wrap="nowrap">
            <FindButton onClick={() => search()}>Find by id, UTR, e-mail</FindButton>
            <AlertBadge />
            <ThemeSwitch />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Places">
        <Navigation areas={areas} onGo={navigation.close} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} style={{ outline: 'none' }}>
        <Box maw={1400} mx="auto">
          <Notices />
          <Suspense fallback={<Waiting />}>
            <Place />
          </Suspense>
        </Box>
      </AppShell.Main>
      <Find source={CONSOLE_FIND} opened={finding} pasted={pasted} onClose={find.close} />
      <Shortcuts areas={areas} onSearch={search} />
      <StepUpInTime />
    </AppShell>
  )
}

const StepUpInTime = () => (
  <Suspense fallback={null}>
    <StepUp />
  </Suspense>
)

/** The page, or the own account while nothing else works. */
function Place() {
  const { secondFactorNeeded } = useSession()
  const { pathname } = useLocation()
  return secondFactorNeeded && pathname !== '/account' ? <Navigate to="/account" /> : <Outlet />
}

function Brand() {
  const { mode } = useSession()
  return (
    <>
      <Link
        to="/"
        aria-label="svc, Home"
        style={{ display: 'flex', gap: 8, alignItems: 'center', color: 'inherit', textDecoration: 'none' }}
      >
        <img src={`${import.meta.env.BASE_URL}favicon.svg`} alt="" width={26} height={26} />
        <Text span fw={700} fz="lg" visibleFrom="xs">
          svc
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

function Account() {
  const { name, role } = useSession()
  const signOut = useSignOut()
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" px="xs" aria-label={`Signed in as ${name}, ${role}`}>
          <UserIcon />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          Signed in as <b>{name}</b>
          <br />
          Role: {role}
        </Menu.Label>
        <Menu.Item component={Link} to="/account">
          Your account
        </Menu.Item>
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
