import { Alert, Button, Group, Text } from '@mantine/core'
import { asCallFailed, type CallFailed } from '../failure.ts'
import { Copy } from './copy.tsx'
import { WarningIcon } from './icons.tsx'

interface FailureAlertProps {
  readonly failed: unknown
  /** Loads it again; absent where nothing was loaded. */
  readonly retry?: (() => void) | undefined
  /** What the person wanted to do, as the button says it. */
  readonly tried?: string
}

const TITLES: Readonly<Record<string, string>> = {
  not_reached: 'No response',
  role_too_low: 'Not allowed with your role',
}

const SAID: Readonly<Record<string, string>> = {
  // The form was sent, its response lost, and then sent with something else in it.
  idempotency_key_reused:
    'This form was carried out before, with the values that it had then. Close it, and check the result.',
}

function titleOf({ status, code }: CallFailed, tried: string | undefined, isLoaded: boolean): string {
  if (TITLES[code]) return TITLES[code]
  if (tried) return `Not done: ${tried}`
  if (status === 404) return 'Not found'
  return isLoaded ? 'This could not be loaded' : 'Not done'
}

/** What was not done and why; the code, and the request id to ask about, are under the details. */
export function FailureAlert({ failed, retry, tried }: FailureAlertProps) {
  const { code, message, requestId, status } = asCallFailed(failed)
  return (
    <Alert
      color="red"
      icon={<WarningIcon />}
      title={titleOf(asCallFailed(failed), tried, retry !== undefined)}
      role="alert"
    >
      <Text size="sm">{SAID[code] ?? message}</Text>
      {retry && (
        <Button size="compact-xs" variant="default" mt={4} onClick={retry}>
          Try again
        </Button>
      )}
      <Text component="details" size="xs" mt={4}>
        <summary>Details</summary>
        <Group gap="xs">
          <Text span inherit ff="monospace" data-id>
            {code}
            {status > 0 && ` · ${status}`}
            {requestId && ` · ${requestId}`}
          </Text>
          {requestId && <Copy text={requestId} what="request id" />}
        </Group>
      </Text>
    </Alert>
  )
}
