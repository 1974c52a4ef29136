import { Navigate, Outlet, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useState } from 'react'
import { responseOf } from '../api.ts'
import { useSession } from '../session.ts'
import { AreaMenu } from '../shell/area-menu.tsx'
import { Frame } from '../shell/frame.tsx'
import { Shortcuts } from '../shell/shortcuts.tsx'
import { api } from './api.ts'
import { useAreas } from './areas.ts'
import { signOut, useMember, useSessionCheck } from './session.ts'

// Needed seldom, so they are not part of the first load; lazyPart would bring what they need into it.
const StepUp = lazy(async () => ({ default: (await import('./step-up.tsx')).StepUp }))
const SignInAgain = lazy(async () => ({ default: (await import('./sign-in-again.tsx')).SignInAgain }))
const IdleWarning = lazy(async () => ({ default: (await import('../shell/idle-warning.tsx')).IdleWarning }))
const Find = lazy(async () => ({ default: (await import('./find.tsx')).Find }))

const stay = () => responseOf(api.GET('/session'))

/** The portal around each of its pages. */
export function Layout() {
  const [pasted, setPasted] = useState<string>()
  const search = useCallback((text = '') => setPasted(text), [])
  const { idleSeconds, name, role, tenantName } = useMember()
  const { mode } = useSession()
  const areas = useAreas()
  useSessionCheck()
  return (
    <>
      <Frame
        name={tenantName}
        mode={mode}
        person={{ name, role }}
        signOut={signOut}
        finds="Find amounts, references, names, pages"
        onFind={() => search()}
        menu={(onGo) => <AreaMenu areas={areas} onGo={onGo} />}
      >
        <Inside />
      </Frame>
      <Shortcuts areas={areas} onSearch={search} />
      <Suspense fallback={null}>
        <StepUp />
        <SignInAgain />
        <IdleWarning idleSeconds={idleSeconds} stay={stay} />
        {pasted !== undefined && <Find pasted={pasted} onClose={() => setPasted(undefined)} />}
      </Suspense>
    </>
  )
}

/** Who must set up a second factor does that first. */
function Inside() {
  const { secondFactorNeeded } = useMember()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  return secondFactorNeeded && path !== '/account' ? <Navigate to={'/account' as string} /> : <Outlet />
}
