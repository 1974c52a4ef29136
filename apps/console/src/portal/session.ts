import { queryOptions, useQuery } from '@tanstack/react-query'
import { responseOf } from '../api.ts'
import { readFailure } from '../failure.ts'
import { signedIn } from '../pending-requests.ts'
import { queryClient } from '../session.ts'
import { api, type Schemas } from './api.ts'

/** What runs here, and whether one click signs in. */
export const portalQuery = queryOptions({
  queryKey: ['portal-about'],
  queryFn: () => responseOf(api.GET('/about')),
  staleTime: Infinity,
})

/** `null` without a session. */
export const memberQuery = queryOptions({
  queryKey: ['member-session'],
  queryFn: async (): Promise<Schemas['MemberSession'] | null> => {
    const { data, error, response } = await api.GET('/session')
    if (data) return data
    if (response.status === 401) return null
    throw readFailure(response, error)
  },
  staleTime: Infinity,
})

signedIn.who = () => queryClient.getQueryData(memberQuery.queryKey)?.member.memberId ?? ''

/** The same person has proved it again. */
export const keepProof = (session: Schemas['MemberSession']): void =>
  void queryClient.setQueryData(memberQuery.queryKey, session)

/** After what changes the session in the service: the pages only watch what is known of it. */
export const refreshMember = () => queryClient.fetchQuery({ ...memberQuery, staleTime: 0 })

const CHECK_MS = 60_000

/** Most pages request nothing by themselves: without this, one stays on the screen after its session has ended. */
export const useSessionCheck = (): void =>
  void useQuery({
    queryKey: ['session-check'],
    queryFn: async () => {
      await responseOf(api.GET('/session'))
      return true
    },
    // The route has just loaded it.
    initialData: true,
    refetchInterval: CHECK_MS,
  })

const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** Who is signed in, and for which tenant. */
export function useMember() {
  const { data } = useQuery({ ...memberQuery, enabled: false })
  const role = data?.member.role ?? 'viewer'
  return {
    name: data?.member.name ?? '',
    memberId: data?.member.memberId ?? '',
    role,
    tenantId: data?.tenant.tenantId ?? '',
    /** The session ends when nothing is done for so long. */
    idleSeconds: data?.idleSeconds,
    tenantName: data?.tenant.name ?? '',
    kind: data?.tenant.kind ?? 'merchant',
    /** Whether nothing but the own account works before a second factor is set up, or used where there is one. */
    secondFactorNeeded: data?.secondFactorNeeded ?? false,
    /** Whether the member has this role or a higher one. */
    can: (wanted: Role) => ROLES.indexOf(role) >= ROLES.indexOf(wanted),
  }
}

/** Ends the session in the service, and forgets all that this page has seen. */
export async function signOut(): Promise<void> {
  await responseOf(api.DELETE('/session'))
  window.location.assign('/portal/sign-in')
}

/** Loads all of a kind again, after a change. */
export const changed = (...names: string[]) =>
  Promise.all(names.map((name) => queryClient.invalidateQueries({ queryKey: [name] })))
