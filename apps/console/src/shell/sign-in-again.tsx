import type { Schemas } from '../api.ts'
import { Entry } from '../pages/sign-in.tsx'
import { keepProof, queryClient, sessionQuery } from '../session.ts'
import { OverPage } from './over-page.tsx'
import { placeOf } from './step-up.tsx'

/** The operator signs in over the page. Another one gets none of it. */
export const SignInAgain = () => <OverPage Entry={Again} />

function Again({ confirmed }: { readonly confirmed: () => void }) {
  const entered = (session: Schemas['Session']) => {
    const previous = queryClient.getQueryData(sessionQuery.queryKey)?.operator.name
    if (session.operator.name !== previous) return window.location.assign('/console')
    keepProof(session)
    confirmed()
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
  }
  return <Entry back={placeOf(window.location)} entered={entered} />
}
