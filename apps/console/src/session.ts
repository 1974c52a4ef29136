import { QueryClient, queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { api, responseOf, type Schemas } from './api.ts'
import { asCallFailed, CallFailed, readFailure } from './failure.ts'
import { signedIn } from './pending-requests.ts'
import { forgetItems } from './recent.ts'

/** Refused requests are not sent again; those to a service that is away for a moment are. */
const mayHelp = (error: unknown) => {
  const { status } = asCallFailed(error)
  return status === 0 || status >= 500
}

export const queryClient = new QueryClient({
  defaultOptions: {
    // A browser that says it is offline may still reach a service on this machine.
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && mayHelp(error),
    },
  },
})

export const aboutQuery = queryOptions({
  queryKey: ['about'],
  queryFn: () => responseOf(api.GET('/about')),
  staleTime: Infinity,
})

/** Words, operations and events of the API, for select boxes. */
export const catalogueQuery = queryOptions({
  queryKey: ['catalogue'],
  queryFn: () => responseOf(api.GET('/catalogue')),
  staleTime: Infinity,
})

/** `null` without a session. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async (): Promise<Schemas['Session'] | null> => {
    const { data, error, response } = await api.GET('/session')
    if (data) return data
    if (response.status === 401) return null
    throw readFailure(response, error)
  },
  staleTime: Infinity,
})

signedIn.who = () => queryClient.getQueryData(sessionQuery.queryKey)?.operator.name ?? ''

/** Of no person; and who is signed in, which is set where it changes. */
const KEPT: ReadonlySet<unknown> = new Set(['about', 'portal-about', 'session', 'member-session'])

/** Forgets what the page has seen for one person, before another one uses it. What is on the screen is loaded again, not forgotten. */
export function forgetPerson(): void {
  queryClient.removeQueries({
    predicate: (query) => !KEPT.has(query.queryKey[0]) && query.getObserversCount() === 0,
  })
  forgetItems()
}

/** Keeps the session that a sign-in began. */
export function keepSession(session: Schemas['Session']): void {
  forgetPerson()
  queryClient.setQueryData(sessionQuery.queryKey, session)
}

/** The same person has proved it again. */
export const keepProof = (session: Schemas['Session']): void =>
  void queryClient.setQueryData(sessionQuery.queryKey, session)

/** After what changes the session in the service: the pages only watch what is known of it. */
export const refreshSession = () => queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 })

type Operator = Schemas['SessionOperator']
export type Permission = Operator['permissions'][number]
export type Role = Operator['role']

interface SignedIn {
  readonly name: string
  readonly role: Role
  /** Nothing but the own account works before a second factor is set up, or used where there is one. */
  readonly secondFactorNeeded: boolean
  /** It ends when nothing is done for so long. */
  readonly idleSeconds: number | undefined
  readonly mode: 'sandbox' | 'live'
  readonly version: string
  /** Business time zone; all dates are shown in it. */
  readonly timeZone: string
  /** The minute of the day, in that zone, at which a business day ends. */
  readonly dayEndsAt: number
  /** Whether the operator's role permits it. */
  readonly can: (permission: Permission) => boolean
}

/** Who is signed in, and to what. The last ones known, while the way leads to the sign-in. */
export function useSession(): SignedIn {
  const { data: about } = useQuery(aboutQuery)
  const { data: session } = useQuery({ ...sessionQuery, enabled: false })
  const { name = '', role = 'viewer', permissions = [] } = session?.operator ?? {}
  return {
    name,
    role,
    secondFactorNeeded: session?.secondFactorNeeded ?? false,
    idleSeconds: session?.idleSeconds,
    mode: about?.mode ?? 'live',
    version: about?.version ?? '',
    timeZone: about?.timeZone ?? 'Asia/Kolkata',
    dayEndsAt: about?.dayEndsAt ?? 1_440,
    can: (permission) => permissions.includes(permission),
  }
}

/** Ends the session in the service, and forgets all that this page has seen. */
export function useSignOut(): () => Promise<void> {
  const client = useQueryClient()
  const router = useRouter()
  return async () => {
    try {
      await responseOf(api.DELETE('/session'))
    } catch (error) {
      if (!(error instanceof CallFailed) || error.status !== 401) throw error
    }
    client.clear()
    forgetItems()
    client.setQueryData(sessionQuery.queryKey, null)
    await router.invalidate()
  }
}
