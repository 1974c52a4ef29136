import { ActionIcon, Button, CopyButton, Tooltip } from '@mantine/core'
import { CheckIcon, CopyIcon } from './icons.tsx'

interface CopyProps {
  readonly text: string
  /** What is copied, for people who hear the page: "request id". */
  readonly what: string
}

export function Copy({ text, what }: CopyProps) {
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : `Copy ${what}`}>
          <ActionIcon
            variant="subtle"
            color={copied ? 'teal' : 'gray'}
            size="sm"
            onClick={copy}
            aria-label={copied ? `${what} copied` : `Copy ${what}`}
          >
            {copied ? <CheckIcon /> : <CopyIcon />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  )
}

export function CopyWide({ text, what }: CopyProps) {
  return (
    <CopyButton value={text} timeout={1_500}>
      {({ copied, copy }) => (
        <Button
          variant="light"
          color={copied ? 'teal' : 'brand'}
          onClick={copy}
          leftSection={copied ? <CheckIcon /> : <CopyIcon />}
        >
          {copied ? 'Copied' : `Copy ${what}`}
        </Button>
      )}
    </CopyButton>
  )
}
