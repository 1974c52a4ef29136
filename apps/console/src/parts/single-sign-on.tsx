import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { api, responseOf } from '../api.ts'
import { FailureAlert } from './failure-alert.tsx'

/** Where the page goes after the sign-in: kept by the tab, because the provider leads back to one fixed address. */
export const PLACE_AFTER = 'svc place after sign-in'

interface SingleSignOnProps {
  /** Of the identity provider. */
  readonly host: string
  readonly back: string | undefined
}

/** A button that leads to the identity provider. */
export function SingleSignOn({ host, back }: SingleSignOnProps) {
  const start = useMutation({
    mutationFn: () => responseOf(api.POST('/session/oidc/start')),
    onSuccess: ({ url }) => {
      sessionStorage.setItem(PLACE_AFTER, back ?? '/')
      window.location.assign(url)
    },
  })
  return (
    <>
      {start.error && <FailureAlert failed={start.error} />}
      <Button
        size="md"
        onClick={() => start.mutate()}
        loading={start.isPending || start.isSuccess}
        py={8}
        style={{ height: 'auto', minHeight: 42 }}
        styles={{ label: { whiteSpace: 'normal', overflowWrap: 'anywhere', lineHeight: 1.3 } }}
      >
        Sign in with {host}
      </Button>
    </>
  )
}
