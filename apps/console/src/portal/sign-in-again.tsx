import { queryClient } from '../session.ts'
import { OverPage } from '../shell/over-page.tsx'
import type { Schemas } from './api.ts'
import { Entry } from './pages/sign-in.tsx'
import { keepProof, memberQuery } from './session.ts'

/** The member signs in over the page. Another one gets none of it. */
export const SignInAgain = () => <OverPage Entry={Again} />

function Again({ confirmed }: { readonly confirmed: () => void }) {
  const entered = (session: Schemas['MemberSession']) => {
    const previous = queryClient.getQueryData(memberQuery.queryKey)?.member.memberId
    if (session.member.memberId !== previous) return window.location.assign('/portal')
    keepProof(session)
    confirmed()
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'member-session' })
  }
  return <Entry entered={entered} />
}
