// Recorded from the service by `npm run generate:examples`; do not edit.
import type { Examples } from '@svc/server/http/worked-examples'

export const EXAMPLES: Examples = {
 "issueMerchantToken": [
  {
   "name": "success",
   "summary": "A token for an API key",
   "request": {
    "headers": {
     "API-Key": "svc_test_wtdk1smmnn9gzxsjp1xx59z4hx4gasvv_r23xq0"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "token": "eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJ0ZW5hbnQifQ.c2ln…",
    "expiry": 1775039645000,
    "resultCode": 0,
    "resultMessage": "Success"
   }
  },
  {
   "name": "invalid_api_key",
   "summary": "A mistyped key",
   "request": {
    "headers": {
     "API-Key": "svc_test_wtdk1smmnn9gzxsjp1xx59z4hx4gasvv_r23xq0"
    }
   },
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_api_key\",\"error_description\":\"Invalid API key\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000001",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_api_key\",\"error_description\":\"Invalid API key\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "resultCode": 1,
    "resultMessage": "Invalid API key"
   }
  }
 ],
 "issuePartnerToken": [
  {
   "name": "success",
   "summary": "Client credentials",
   "request": {
    "headers": {
     "content-type": "application/x-www-form-urlencoded"
    },
    "body": "grant_type=client_credentials&client_id=cli_01m7yx4b000000000000000002&client_secret=svc_secret_0123456789abcdefghjkmnpqrstvwxyz01234567"
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "access_token": "eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiJ0ZW5hbnQifQ.c2ln…",
    "token_type": "Bearer",
    "expires_in": 3600,
    "scope": "cards:read cards:write coins:read coins:write events:read webhooks:read webhooks:write"
   }
  },
  {
   "name": "invalid_client",
   "summary": "A wrong secret",
   "request": {
    "headers": {
     "content-type": "application/x-www-form-urlencoded"
    },
    "body": "grant_type=client_credentials&client_id=cli_01m7yx4b000000000000000002&client_secret=mistyped"
   },
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_client\",\"error_description\":\"Client authentication failed\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000003",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_client\",\"error_description\":\"Client authentication failed\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "error": "invalid_client",
    "error_description": "Client authentication failed"
   }
  },
  {
   "name": "unsupported_grant_type",
   "summary": "Another grant",
   "request": {
    "headers": {
     "content-type": "application/x-www-form-urlencoded"
    },
    "body": "grant_type=password&client_id=cli_01m7yx4b000000000000000002&client_secret=svc_secret_0123456789abcdefghjkmnpqrstvwxyz01234567"
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"unsupported_grant_type\",\"error_description\":\"Only the client_credentials grant is supported\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000004",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"unsupported_grant_type\",\"error_description\":\"Only the client_credentials grant is supported\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "error": "unsupported_grant_type",
    "error_description": "Only the client_credentials grant is supported"
   }
  }
 ],
 "oauthMetadata": [
  {
   "name": "success",
   "summary": "What OAuth clients read",
   "request": {},
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "issuer": "http://127.0.0.1:8080",
    "token_endpoint": "http://127.0.0.1:8080/oauth/token",
    "jwks_uri": "http://127.0.0.1:8080/.well-known/jwks.json",
    "grant_types_supported": [
     "client_credentials"
    ],
    "response_types_supported": [],
    "token_endpoint_auth_methods_supported": [
     "client_secret_basic",
     "client_secret_post"
    ],
    "scopes_supported": [
     "cards:read",
     "cards:write",
     "coins:read",
     "coins:write",
     "events:read",
     "webhooks:read",
     "webhooks:write"
    ],
    "service_documentation": "http://127.0.0.1:8080/docs"
   }
  },
  {
   "name": "validation_failed",
   "summary": "A parameter that does not exist",
   "request": {
    "query": {
     "verbose": "true"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000005",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "publishedKeys": [
  {
   "name": "success",
   "summary": "Keys for tokens and for sealing",
   "request": {},
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "keys": [
     {
      "crv": "Ed25519",
      "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      "kty": "OKP",
      "kid": "key_1",
      "use": "sig",
      "alg": "EdDSA"
     },
     {
      "crv": "Ed25519",
      "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      "kty": "OKP",
      "kid": "key_1",
      "use": "sig",
      "alg": "EdDSA"
     },
     {
      "kty": "EC",
      "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
      "crv": "P-256",
      "kid": "key_1",
      "alg": "ECDH-ES+A256KW",
      "use": "enc"
     },
     {
      "crv": "X25519",
      "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      "kty": "OKP",
      "kid": "key_1",
      "alg": "ECDH-ES+A256KW",
      "use": "enc"
     },
     {
      "kty": "RSA",
      "n": "pjdss8ZaDfEH6K6U7GeW2nxDqR4IP049fk1fK0lndimbMMVBdPv_hSpm8T8EtBDxrUdi1OHZfMhUixGaut-3nQ4GG9nM249oxhCtxqqNvEXrmQRGqczyLxuh…",
      "e": "AQAB",
      "kid": "key_1",
      "alg": "RSA-OAEP-256",
      "use": "enc"
     }
    ]
   }
  },
  {
   "name": "validation_failed",
   "summary": "A parameter that does not exist",
   "request": {
    "query": {
     "verbose": "true"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000006",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "createQrCode": [
  {
   "name": "success",
   "summary": "A code for one order",
   "request": {
    "headers": {
     "Idempotency-Key": "order-1042-qr"
    },
    "body": {
     "qrName": "Order 1042",
     "amount": 249.5,
     "fixedAmount": true,
     "referenceNumber": "order-1042"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "qrCodeId": "qr_01m7yx4b000000000000000007",
     "qrName": "Order 1042",
     "multipleUse": false,
     "fixedAmount": true,
     "amount": 249.5,
     "status": "ACTIVE",
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30",
     "referenceNumber": "order-1042",
     "payments": {
      "count": 0,
      "amount": 0
     },
     "upiUri": "upi://pay?pa=corner.shop@bank&pn=Corner%20Shop&mc=5411&tr=SVC01M7YX4B000000000000000008&tn=Order%201042&am=249.50&cu=INR&mode=15",
     "qrCodeBase64": "iVBORw0KGgoAAAANSUhEUgAAAOQAAADkAQAAAACWaDlg…"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000009",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "validation_failed",
   "summary": "Every bad field is named",
   "request": {
    "body": {
     "qrName": "Order 1043",
     "amount": 249.505,
     "colour": "blue"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"colour is not a known field; amount must be an amount in rupees with at most two decimals\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000010",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"colour is not a known field; amount must be an amount in rupees with at most two decimals\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "reference_in_use",
   "summary": "The reference has a code of another amount",
   "request": {
    "body": {
     "qrName": "Order 1042",
     "amount": 300,
     "fixedAmount": true,
     "referenceNumber": "order-1042"
    }
   },
   "status": 409,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"reference_in_use\",\"error_description\":\"referenceNumber: is used by the active QR code qr_01m7yx4b000000000000000007, which was created with another request\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000011",
     "errorType": "CONFLICT_ERROR",
     "errorMessage": "{\"error\":\"reference_in_use\",\"error_description\":\"referenceNumber: is used by the active QR code qr_01m7yx4b000000000000000007, which was created with another request\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "getQrCode": [
  {
   "name": "success",
   "summary": "With its image",
   "request": {
    "params": {
     "qrCodeId": "qr_01m7yx4b000000000000000007"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "qrCodeId": "qr_01m7yx4b000000000000000007",
     "qrName": "Order 1042",
     "multipleUse": false,
     "fixedAmount": true,
     "amount": 249.5,
     "status": "ACTIVE",
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30",
     "referenceNumber": "order-1042",
     "payments": {
      "count": 0,
      "amount": 0
     },
     "upiUri": "upi://pay?pa=corner.shop@bank&pn=Corner%20Shop&mc=5411&tr=SVC01M7YX4B000000000000000008&tn=Order%201042&am=249.50&cu=INR&mode=15",
     "qrCodeBase64": "iVBORw0KGgoAAAANSUhEUgAAAOQAAADkAQAAAACWaDlg…"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000012",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "qr_code_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "qrCodeId": "qr_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"qr_code_not_found\",\"error_description\":\"QR code not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000013",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"qr_code_not_found\",\"error_description\":\"QR code not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "sandboxPay": [
  {
   "name": "success",
   "summary": "A payer scans and pays",
   "request": {
    "body": {
     "qrCodeId": "qr_01m7yx4b000000000000000007",
     "payerVpa": "asha@bank"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "outcome": "NOTIFIED",
     "utr": "SBX01M7YX4B000000000000000014",
     "notices": 1,
     "payment": {
      "paymentId": "pay_01m7yx4b000000000000000015",
      "utr": "SBX01M7YX4B000000000000000014",
      "amount": 249.5,
      "payerVpa": "asha@bank",
      "status": "ACCEPTED",
      "createdOn": "2026-04-01T15:04:05.123+05:30"
     }
    }
   }
  },
  {
   "name": "qr_code_not_found",
   "summary": "No such code",
   "request": {
    "body": {
     "qrCodeId": "qr_nothing",
     "amount": 10
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"qr_code_not_found\",\"error_description\":\"QR code not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000016",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"qr_code_not_found\",\"error_description\":\"QR code not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "searchQrCodes": [
  {
   "name": "success",
   "summary": "By reference",
   "request": {
    "body": {
     "referenceNumber": "order-1042",
     "limit": 10
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "recordsCount": 1,
     "data": [
      {
       "qrCodeId": "qr_01m7yx4b000000000000000007",
       "qrName": "Order 1042",
       "multipleUse": false,
       "fixedAmount": true,
       "amount": 249.5,
       "status": "CANCELLED",
       "createdOn": "2026-04-01T15:04:05.123+05:30",
       "modifiedOn": "2026-04-01T15:04:05.123+05:30",
       "referenceNumber": "order-1042",
       "closeReason": "paid",
       "payments": {
        "count": 1,
        "amount": 249.5
       }
      }
     ]
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000017",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "validation_failed",
   "summary": "A limit out of range",
   "request": {
    "body": {
     "limit": 1000
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"limit must be at most 500\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000018",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"limit must be at most 500\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "listPayments": [
  {
   "name": "success",
   "summary": "What came for a code",
   "request": {
    "params": {
     "qrCodeId": "qr_01m7yx4b000000000000000007"
    },
    "query": {
     "limit": "10"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "recordsCount": 1,
     "data": [
      {
       "paymentId": "pay_01m7yx4b000000000000000015",
       "utr": "SBX01M7YX4B000000000000000014",
       "amount": 249.5,
       "payerVpa": "asha@bank",
       "status": "ACCEPTED",
       "createdOn": "2026-04-01T15:04:05.123+05:30"
      }
     ]
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000019",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "qr_code_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "qrCodeId": "qr_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"qr_code_not_found\",\"error_description\":\"QR code not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000020",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"qr_code_not_found\",\"error_description\":\"QR code not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "findPayments": [
  {
   "name": "success",
   "summary": "Of one order",
   "request": {
    "query": {
     "referenceNumber": "order-1042"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "recordsCount": 1,
     "data": [
      {
       "paymentId": "pay_01m7yx4b000000000000000015",
       "utr": "SBX01M7YX4B000000000000000014",
       "amount": 249.5,
       "payerVpa": "asha@bank",
       "status": "ACCEPTED",
       "createdOn": "2026-04-01T15:04:05.123+05:30",
       "qrCodeId": "qr_01m7yx4b000000000000000007",
       "referenceNumber": "order-1042"
      }
     ]
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000021",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "getPayment": [
  {
   "name": "success",
   "summary": "One payment",
   "request": {
    "params": {
     "paymentId": "pay_01m7yx4b000000000000000015"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "paymentId": "pay_01m7yx4b000000000000000015",
     "utr": "SBX01M7YX4B000000000000000014",
     "amount": 249.5,
     "payerVpa": "asha@bank",
     "status": "ACCEPTED",
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "qrCodeId": "qr_01m7yx4b000000000000000007",
     "referenceNumber": "order-1042"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000022",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "payment_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "paymentId": "pay_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"payment_not_found\",\"error_description\":\"Payment not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000023",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"payment_not_found\",\"error_description\":\"Payment not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "cancelQrCode": [
  {
   "name": "success",
   "summary": "No payment after this",
   "request": {
    "params": {
     "qrCodeId": "qr_01m7yx4b000000000000000024"
    },
    "body": {}
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "qrCodeId": "qr_01m7yx4b000000000000000024",
     "qrName": "Counter",
     "multipleUse": true,
     "fixedAmount": false,
     "status": "CANCELLED",
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000025",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "qr_code_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "qrCodeId": "qr_nothing"
    },
    "body": {}
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"qr_code_not_found\",\"error_description\":\"QR code not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000026",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"qr_code_not_found\",\"error_description\":\"QR code not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "access_key_mismatch",
   "summary": "The access key names another merchant",
   "request": {
    "params": {
     "qrCodeId": "qr_01m7yx4b000000000000000007"
    },
    "headers": {
     "merchantAccessKey": "mak_0123456789abcdefghjkmnpq"
    },
    "body": {}
   },
   "status": 403,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"access_key_mismatch\",\"error_description\":\"merchantAccessKey does not belong to the merchant of the token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000027",
     "errorType": "AUTHORIZATION_ERROR",
     "errorMessage": "{\"error\":\"access_key_mismatch\",\"error_description\":\"merchantAccessKey does not belong to the merchant of the token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "acceptPayment": [
  {
   "name": "success",
   "summary": "The bank tells of a credit",
   "request": {
    "body": {
     "utr": "AXISN0000000042",
     "tr": "SVC01M7YX4B000000000000000028",
     "amount": 75,
     "payerVpa": "asha@bank"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "paymentId": "pay_01m7yx4b000000000000000029",
     "utr": "AXISN0000000042",
     "amount": 75,
     "payerVpa": "asha@bank",
     "status": "ACCEPTED",
     "createdOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_signature",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_signature\",\"error_description\":\"The signature is missing, wrong or too old\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000030",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_signature\",\"error_description\":\"The signature is missing, wrong or too old\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "confirmRefund": [
  {
   "name": "success",
   "summary": "The bank has sent the money back",
   "request": {
    "body": {
     "utr": "AXISN0000000043"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "paymentId": "pay_01m7yx4b000000000000000031",
     "utr": "AXISN0000000043",
     "amount": 75,
     "payerVpa": "asha@bank",
     "status": "REFUNDED",
     "reason": "unknown_code",
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "refundedOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_signature",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_signature\",\"error_description\":\"The signature is missing, wrong or too old\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000032",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_signature\",\"error_description\":\"The signature is missing, wrong or too old\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "payment_not_found",
   "summary": "No such credit",
   "request": {
    "body": {
     "utr": "AXISN0000009999"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"payment_not_found\",\"error_description\":\"Payment not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000033",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"payment_not_found\",\"error_description\":\"Payment not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "refund_not_due",
   "summary": "It was accepted",
   "request": {
    "body": {
     "utr": "AXISN0000000042"
    }
   },
   "status": 409,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"refund_not_due\",\"error_description\":\"This credit was accepted and cannot be refunded\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000034",
     "errorType": "CONFLICT_ERROR",
     "errorMessage": "{\"error\":\"refund_not_due\",\"error_description\":\"This credit was accepted and cannot be refunded\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "createGiftCard": [
  {
   "name": "success",
   "summary": "Sealed with the shared key",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035",
     "content-type": "application/json",
     "Idempotency-Key": "gift-1042"
    },
    "encrypted": {
     "companyId": "com_01m7yx4b000000000000000036",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "firstName": "Asha",
     "mobile": "9876543210",
     "loadAmount": "500"
    },
    "body": "\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoia2V5XzEifQ.ZUVjZnlw…\""
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "svcCardId": "card_01m7yx4b000000000000000038",
     "userId": "usr_01m7yx4b000000000000000039",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "maskedNumber": "999912XXXXXX1234",
     "expiryMonth": "04",
     "expiryYear": "2027",
     "email": "",
     "mobile": "9876543210",
     "title": "",
     "firstName": "Asha",
     "lastName": "",
     "gender": "",
     "specialDate": "",
     "address": "",
     "address2": "",
     "city": "",
     "state": "",
     "country": "",
     "pincode": "",
     "deliveryAddress": "",
     "deliveryAddress2": "",
     "deliveryCity": "",
     "deliveryState": "",
     "deliveryCountry": "",
     "deliveryPincode": "",
     "pan": "",
     "primaryCard": true,
     "prepaidCard": true,
     "physicalCard": false,
     "cardStatus": {
      "name": "UL",
      "label": "UnLocked"
     },
     "kycStatus": {
      "name": "NOT_UPLOADED",
      "label": "Not Uploaded"
     },
     "physicalCardRequestDate": "",
     "physicalDeliveryAddressFlag": false,
     "cardActivated": true,
     "deleted": false,
     "otbBalance": 500,
     "accountBalance": 500,
     "loadAmount": "500",
     "lastAllocatedAmount": 500,
     "svcCardTxnId": "trf_01m7yx4b000000000000000040",
     "usedMtd": 0,
     "usedDtd": 0,
     "usedYtd": 0,
     "usedLtd": 0,
     "limitAllocatedLtd": 500,
     "surchargeAmt": 0,
     "holdBalance": 0,
     "unAllocateHoldBalance": 0,
     "physicalCardAllowed": true,
     "panValidated": false,
     "posAllowed": true,
     "posAllowedAdmin": true,
     "atmAllowed": false,
     "atmAllowedAdmin": false,
     "onlineAllowed": true,
     "onlineAllowedAdmin": true,
     "unallocateFundAllowed": false,
     "tncUnAllocateAllowed": false,
     "tncUnAllocateAccepted": false,
     "closedLoopCard": false,
     "useAccountFunds": false,
     "useParentFundAllowed": false,
     "companyId": "com_01m7yx4b000000000000000036",
     "companyName": "Acme Industries Private Limited",
     "accountType": {
      "name": "GIFT",
      "label": "Gift",
      "description": "Gift card, loaded once"
     },
     "binType": {
      "name": "GIFT",
      "label": "Gift"
     },
     "kitType": {
      "name": "VIRTUAL",
      "label": "Virtual"
     },
     "cardProgramme": "Test programme",
     "token": "crd_01m7yx4b000000000000000041",
     "blockCode": "",
     "remarks": "",
     "createdOn": "Apr 1, 2026 3:04:05 PM",
     "modifiedOn": "Apr 1, 2026 3:04:05 PM",
     "liveImage": false,
     "cKycEnabled": false,
     "minKycOtpVerified": false,
     "vKycAllowed": false,
     "latestTnCVersionAccepted": false,
     "latestKeyFactAccepted": false,
     "latestTnCVersionAcceptedForPrimaryCard": false,
     "latestKeyFactAcceptedCardForPrimaryCard": false,
     "partnerLogo": "",
     "extEntityId": "",
     "switchProvider": "",
     "tncVersionMasterId": "",
     "tncUrl": "",
     "virtualAccountNumber": "",
     "defaultCardImage": "",
     "svcSupportEmail": "",
     "svcSupportMobile": "",
     "cardKitMasterId": 0
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000042",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "load_over_limit",
   "summary": "More than a gift card may hold",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035",
     "content-type": "application/json"
    },
    "encrypted": {
     "companyId": "com_01m7yx4b000000000000000036",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "firstName": "Asha",
     "mobile": "9876543210",
     "loadAmount": "20000"
    },
    "body": "\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoia2V5XzEifQ.ZUVjZnlw…\""
   },
   "status": 422,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"load_over_limit\",\"error_description\":\"A gift card holds at most 10000.00 rupees\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000043",
     "errorType": "BUSINESS_ERROR",
     "errorMessage": "{\"error\":\"load_over_limit\",\"error_description\":\"A gift card holds at most 10000.00 rupees\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "decryption_failed",
   "summary": "Sealed with somebody else’s key",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035",
     "content-type": "application/json"
    },
    "encrypted": {
     "companyId": "com_01m7yx4b000000000000000036",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "firstName": "Asha",
     "mobile": "9876543210",
     "loadAmount": "500"
    },
    "body": "\"eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoia2V5XzEifQ.ZUVjZnlw…\""
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"decryption_failed\",\"error_description\":\"The kid of the seal names no key that is in use here\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000044",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"decryption_failed\",\"error_description\":\"The kid of the seal names no key that is in use here\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "request_not_encrypted",
   "summary": "Not sealed at all",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "body": {
     "companyId": "com_01m7yx4b000000000000000036",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "firstName": "Asha",
     "mobile": "9876543210",
     "loadAmount": "500"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"request_not_encrypted\",\"error_description\":\"The request must be encrypted\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000045",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"request_not_encrypted\",\"error_description\":\"The request must be encrypted\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "getCard": [
  {
   "name": "success",
   "summary": "One card",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "svcCardId": "card_01m7yx4b000000000000000038",
     "userId": "usr_01m7yx4b000000000000000039",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "maskedNumber": "999912XXXXXX1234",
     "expiryMonth": "04",
     "expiryYear": "2027",
     "email": "",
     "mobile": "9876543210",
     "title": "",
     "firstName": "Asha",
     "lastName": "",
     "gender": "",
     "specialDate": "",
     "address": "",
     "address2": "",
     "city": "",
     "state": "",
     "country": "",
     "pincode": "",
     "deliveryAddress": "",
     "deliveryAddress2": "",
     "deliveryCity": "",
     "deliveryState": "",
     "deliveryCountry": "",
     "deliveryPincode": "",
     "pan": "",
     "primaryCard": true,
     "prepaidCard": true,
     "physicalCard": false,
     "cardStatus": {
      "name": "UL",
      "label": "UnLocked"
     },
     "kycStatus": {
      "name": "NOT_UPLOADED",
      "label": "Not Uploaded"
     },
     "physicalCardRequestDate": "",
     "physicalDeliveryAddressFlag": false,
     "cardActivated": true,
     "deleted": false,
     "otbBalance": 500,
     "accountBalance": 500,
     "loadAmount": "500",
     "lastAllocatedAmount": 500,
     "svcCardTxnId": "trf_01m7yx4b000000000000000040",
     "usedMtd": 0,
     "usedDtd": 0,
     "usedYtd": 0,
     "usedLtd": 0,
     "limitAllocatedLtd": 500,
     "surchargeAmt": 0,
     "holdBalance": 0,
     "unAllocateHoldBalance": 0,
     "physicalCardAllowed": true,
     "panValidated": false,
     "posAllowed": true,
     "posAllowedAdmin": true,
     "atmAllowed": false,
     "atmAllowedAdmin": false,
     "onlineAllowed": true,
     "onlineAllowedAdmin": true,
     "unallocateFundAllowed": false,
     "tncUnAllocateAllowed": false,
     "tncUnAllocateAccepted": false,
     "closedLoopCard": false,
     "useAccountFunds": false,
     "useParentFundAllowed": false,
     "companyId": "com_01m7yx4b000000000000000036",
     "companyName": "Acme Industries Private Limited",
     "accountType": {
      "name": "GIFT",
      "label": "Gift",
      "description": "Gift card, loaded once"
     },
     "binType": {
      "name": "GIFT",
      "label": "Gift"
     },
     "kitType": {
      "name": "VIRTUAL",
      "label": "Virtual"
     },
     "cardProgramme": "Test programme",
     "token": "crd_01m7yx4b000000000000000041",
     "blockCode": "",
     "remarks": "",
     "createdOn": "Apr 1, 2026 3:04:05 PM",
     "modifiedOn": "Apr 1, 2026 3:04:05 PM",
     "liveImage": false,
     "cKycEnabled": false,
     "minKycOtpVerified": false,
     "vKycAllowed": false,
     "latestTnCVersionAccepted": false,
     "latestKeyFactAccepted": false,
     "latestTnCVersionAcceptedForPrimaryCard": false,
     "latestKeyFactAcceptedCardForPrimaryCard": false,
     "partnerLogo": "",
     "extEntityId": "",
     "switchProvider": "",
     "tncVersionMasterId": "",
     "tncUrl": "",
     "virtualAccountNumber": "",
     "defaultCardImage": "",
     "svcSupportEmail": "",
     "svcSupportMobile": "",
     "cardKitMasterId": 0
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000046",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "card_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "svcCardId": "card_nothing"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"card_not_found\",\"error_description\":\"Card not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000047",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"card_not_found\",\"error_description\":\"Card not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "searchCards": [
  {
   "name": "success",
   "summary": "Incentive: the full record of one card",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "body": {
     "companyId": "com_01m7yx4b000000000000000036",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "svcCardId": "card_01m7yx4b000000000000000038"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "data": [
      {
       "svcCardId": "card_01m7yx4b000000000000000038",
       "userId": "usr_01m7yx4b000000000000000039",
       "cardAccountId": "acc_01m7yx4b000000000000000037",
       "maskedNumber": "999912XXXXXX1234",
       "expiryMonth": "04",
       "expiryYear": "2027",
       "email": "",
       "mobile": "9876543210",
       "title": "",
       "firstName": "Asha",
       "lastName": "",
       "gender": "",
       "specialDate": "",
       "address": "",
       "address2": "",
       "city": "",
       "state": "",
       "country": "",
       "pincode": "",
       "deliveryAddress": "",
       "deliveryAddress2": "",
       "deliveryCity": "",
       "deliveryState": "",
       "deliveryCountry": "",
       "deliveryPincode": "",
       "pan": "",
       "primaryCard": true,
       "prepaidCard": true,
       "physicalCard": false,
       "cardStatus": {
        "name": "UL",
        "label": "UnLocked"
       },
       "kycStatus": {
        "name": "NOT_UPLOADED",
        "label": "Not Uploaded"
       },
       "physicalCardRequestDate": "",
       "physicalDeliveryAddressFlag": false,
       "cardActivated": true,
       "deleted": false,
       "otbBalance": 500,
       "accountBalance": 500,
       "loadAmount": "500",
       "lastAllocatedAmount": 500,
       "svcCardTxnId": "trf_01m7yx4b000000000000000040",
       "usedMtd": 0,
       "usedDtd": 0,
       "usedYtd": 0,
       "usedLtd": 0,
       "limitAllocatedLtd": 500,
       "surchargeAmt": 0,
       "holdBalance": 0,
       "unAllocateHoldBalance": 0,
       "physicalCardAllowed": true,
       "panValidated": false,
       "posAllowed": true,
       "posAllowedAdmin": true,
       "atmAllowed": false,
       "atmAllowedAdmin": false,
       "onlineAllowed": true,
       "onlineAllowedAdmin": true,
       "unallocateFundAllowed": false,
       "tncUnAllocateAllowed": false,
       "tncUnAllocateAccepted": false,
       "closedLoopCard": false,
       "useAccountFunds": false,
       "useParentFundAllowed": false,
       "companyId": "com_01m7yx4b000000000000000036",
       "companyName": "Acme Industries Private Limited",
       "accountType": {
        "name": "GIFT",
        "label": "Gift",
        "description": "Gift card, loaded once"
       },
       "binType": {
        "name": "GIFT",
        "label": "Gift"
       },
       "kitType": {
        "name": "VIRTUAL",
        "label": "Virtual"
       },
       "cardProgramme": "Test programme",
       "token": "crd_01m7yx4b000000000000000041",
       "blockCode": "",
       "remarks": "",
       "createdOn": "Apr 1, 2026 3:04:05 PM",
       "modifiedOn": "Apr 1, 2026 3:04:05 PM",
       "liveImage": false,
       "cKycEnabled": false,
       "minKycOtpVerified": false,
       "vKycAllowed": false,
       "latestTnCVersionAccepted": false,
       "latestKeyFactAccepted": false,
       "latestTnCVersionAcceptedForPrimaryCard": false,
       "latestKeyFactAcceptedCardForPrimaryCard": false,
       "partnerLogo": "",
       "extEntityId": "",
       "switchProvider": "",
       "tncVersionMasterId": "",
       "tncUrl": "",
       "virtualAccountNumber": "",
       "defaultCardImage": "",
       "svcSupportEmail": "",
       "svcSupportMobile": "",
       "cardKitMasterId": 0,
       "middleName": "",
       "primarySvcCardId": "card_01m7yx4b000000000000000038",
       "primarySvcCardUserId": "usr_01m7yx4b000000000000000039",
       "enableHoldAmount": false,
       "minTransactionAmount": 0,
       "totalRewardsReceived": 500,
       "rewardPointsReceived": 0
      }
     ],
     "recordsCount": 1
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000048",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "validation_failed",
   "summary": "Incentive partners name the card",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "body": {
     "companyId": "com_01m7yx4b000000000000000036",
     "cardAccountId": "acc_01m7yx4b000000000000000037"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"svcCardId is required\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000049",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"svcCardId is required\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "company_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "body": {
     "companyId": "com_nothing",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "svcCardId": "card_01m7yx4b000000000000000038"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"company_not_found\",\"error_description\":\"Company not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000050",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"company_not_found\",\"error_description\":\"Company not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "success",
   "summary": "Employee rewards: all cards of the account",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000051"
    },
    "body": {
     "companyId": "com_01m7yx4b000000000000000052",
     "cardAccountId": "acc_01m7yx4b000000000000000053"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "data": [
      {
       "svcCardId": "card_01m7yx4b000000000000000054",
       "userId": "usr_01m7yx4b000000000000000055",
       "cardAccountId": "acc_01m7yx4b000000000000000053",
       "expiryMonth": "04",
       "expiryYear": "2027",
       "email": "",
       "mobile": "",
       "title": "",
       "firstName": "Sunita",
       "lastName": "",
       "otbBalance": 500,
       "companyId": "com_01m7yx4b000000000000000052"
      },
      {
       "svcCardId": "card_01m7yx4b000000000000000056",
       "userId": "usr_01m7yx4b000000000000000057",
       "cardAccountId": "acc_01m7yx4b000000000000000053",
       "expiryMonth": "04",
       "expiryYear": "2027",
       "email": "",
       "mobile": "",
       "title": "",
       "firstName": "Arjun",
       "lastName": "",
       "otbBalance": 500,
       "companyId": "com_01m7yx4b000000000000000052"
      }
     ],
     "recordsCount": 2
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000058",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "changeCardStatus": [
  {
   "name": "success",
   "summary": "Lock",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    },
    "body": {
     "status": "L",
     "reason": "Lost"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "svcCardId": "card_01m7yx4b000000000000000038",
     "userId": "usr_01m7yx4b000000000000000039",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "maskedNumber": "999912XXXXXX1234",
     "expiryMonth": "04",
     "expiryYear": "2027",
     "email": "",
     "mobile": "9876543210",
     "title": "",
     "firstName": "Asha",
     "lastName": "",
     "gender": "",
     "specialDate": "",
     "address": "",
     "address2": "",
     "city": "",
     "state": "",
     "country": "",
     "pincode": "",
     "deliveryAddress": "",
     "deliveryAddress2": "",
     "deliveryCity": "",
     "deliveryState": "",
     "deliveryCountry": "",
     "deliveryPincode": "",
     "pan": "",
     "primaryCard": true,
     "prepaidCard": true,
     "physicalCard": false,
     "cardStatus": {
      "name": "L",
      "label": "Locked"
     },
     "kycStatus": {
      "name": "NOT_UPLOADED",
      "label": "Not Uploaded"
     },
     "physicalCardRequestDate": "",
     "physicalDeliveryAddressFlag": false,
     "cardActivated": true,
     "deleted": false,
     "otbBalance": 500,
     "accountBalance": 500,
     "loadAmount": "500",
     "lastAllocatedAmount": 500,
     "svcCardTxnId": "trf_01m7yx4b000000000000000040",
     "usedMtd": 0,
     "usedDtd": 0,
     "usedYtd": 0,
     "usedLtd": 0,
     "limitAllocatedLtd": 500,
     "surchargeAmt": 0,
     "holdBalance": 0,
     "unAllocateHoldBalance": 0,
     "physicalCardAllowed": true,
     "panValidated": false,
     "posAllowed": true,
     "posAllowedAdmin": true,
     "atmAllowed": false,
     "atmAllowedAdmin": false,
     "onlineAllowed": true,
     "onlineAllowedAdmin": true,
     "unallocateFundAllowed": false,
     "tncUnAllocateAllowed": false,
     "tncUnAllocateAccepted": false,
     "closedLoopCard": false,
     "useAccountFunds": false,
     "useParentFundAllowed": false,
     "companyId": "com_01m7yx4b000000000000000036",
     "companyName": "Acme Industries Private Limited",
     "accountType": {
      "name": "GIFT",
      "label": "Gift",
      "description": "Gift card, loaded once"
     },
     "binType": {
      "name": "GIFT",
      "label": "Gift"
     },
     "kitType": {
      "name": "VIRTUAL",
      "label": "Virtual"
     },
     "cardProgramme": "Test programme",
     "token": "crd_01m7yx4b000000000000000041",
     "blockCode": "",
     "remarks": "Lost",
     "createdOn": "Apr 1, 2026 3:04:05 PM",
     "modifiedOn": "Apr 1, 2026 3:04:05 PM",
     "liveImage": false,
     "cKycEnabled": false,
     "minKycOtpVerified": false,
     "vKycAllowed": false,
     "latestTnCVersionAccepted": false,
     "latestKeyFactAccepted": false,
     "latestTnCVersionAcceptedForPrimaryCard": false,
     "latestKeyFactAcceptedCardForPrimaryCard": false,
     "partnerLogo": "",
     "extEntityId": "",
     "switchProvider": "",
     "tncVersionMasterId": "",
     "tncUrl": "",
     "virtualAccountNumber": "",
     "defaultCardImage": "",
     "svcSupportEmail": "",
     "svcSupportMobile": "",
     "cardKitMasterId": 0
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000059",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "validation_failed",
   "summary": "Blocking wants a reason",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    },
    "body": {
     "status": "BL"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"reason is required when status is BL\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000060",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"reason is required when status is BL\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "card_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "svcCardId": "card_nothing"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "body": {
     "status": "L"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"card_not_found\",\"error_description\":\"Card not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000061",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"card_not_found\",\"error_description\":\"Card not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "setCardFlags": [
  {
   "name": "success",
   "summary": "No online use",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    },
    "body": {
     "onlineAllowed": false
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "svcCardId": "card_01m7yx4b000000000000000038",
     "userId": "usr_01m7yx4b000000000000000039",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "maskedNumber": "999912XXXXXX1234",
     "expiryMonth": "04",
     "expiryYear": "2027",
     "email": "",
     "mobile": "9876543210",
     "title": "",
     "firstName": "Asha",
     "lastName": "",
     "gender": "",
     "specialDate": "",
     "address": "",
     "address2": "",
     "city": "",
     "state": "",
     "country": "",
     "pincode": "",
     "deliveryAddress": "",
     "deliveryAddress2": "",
     "deliveryCity": "",
     "deliveryState": "",
     "deliveryCountry": "",
     "deliveryPincode": "",
     "pan": "",
     "primaryCard": true,
     "prepaidCard": true,
     "physicalCard": false,
     "cardStatus": {
      "name": "UL",
      "label": "UnLocked"
     },
     "kycStatus": {
      "name": "NOT_UPLOADED",
      "label": "Not Uploaded"
     },
     "physicalCardRequestDate": "",
     "physicalDeliveryAddressFlag": false,
     "cardActivated": true,
     "deleted": false,
     "otbBalance": 500,
     "accountBalance": 500,
     "loadAmount": "500",
     "lastAllocatedAmount": 500,
     "svcCardTxnId": "trf_01m7yx4b000000000000000040",
     "usedMtd": 0,
     "usedDtd": 0,
     "usedYtd": 0,
     "usedLtd": 0,
     "limitAllocatedLtd": 500,
     "surchargeAmt": 0,
     "holdBalance": 0,
     "unAllocateHoldBalance": 0,
     "physicalCardAllowed": true,
     "panValidated": false,
     "posAllowed": true,
     "posAllowedAdmin": true,
     "atmAllowed": false,
     "atmAllowedAdmin": false,
     "onlineAllowed": false,
     "onlineAllowedAdmin": true,
     "unallocateFundAllowed": false,
     "tncUnAllocateAllowed": false,
     "tncUnAllocateAccepted": false,
     "closedLoopCard": false,
     "useAccountFunds": false,
     "useParentFundAllowed": false,
     "companyId": "com_01m7yx4b000000000000000036",
     "companyName": "Acme Industries Private Limited",
     "accountType": {
      "name": "GIFT",
      "label": "Gift",
      "description": "Gift card, loaded once"
     },
     "binType": {
      "name": "GIFT",
      "label": "Gift"
     },
     "kitType": {
      "name": "VIRTUAL",
      "label": "Virtual"
     },
     "cardProgramme": "Test programme",
     "token": "crd_01m7yx4b000000000000000041",
     "blockCode": "",
     "remarks": "",
     "createdOn": "Apr 1, 2026 3:04:05 PM",
     "modifiedOn": "Apr 1, 2026 3:04:05 PM",
     "liveImage": false,
     "cKycEnabled": false,
     "minKycOtpVerified": false,
     "vKycAllowed": false,
     "latestTnCVersionAccepted": false,
     "latestKeyFactAccepted": false,
     "latestTnCVersionAcceptedForPrimaryCard": false,
     "latestKeyFactAcceptedCardForPrimaryCard": false,
     "partnerLogo": "",
     "extEntityId": "",
     "switchProvider": "",
     "tncVersionMasterId": "",
     "tncUrl": "",
     "virtualAccountNumber": "",
     "defaultCardImage": "",
     "svcSupportEmail": "",
     "svcSupportMobile": "",
     "cardKitMasterId": 0
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000062",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "card_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "svcCardId": "card_nothing"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "body": {
     "posAllowed": true
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"card_not_found\",\"error_description\":\"Card not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000063",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"card_not_found\",\"error_description\":\"Card not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "activateCard": [
  {
   "name": "success",
   "summary": "It has arrived",
   "request": {
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000064"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "body": {}
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "svcCardId": "card_01m7yx4b000000000000000064",
     "userId": "usr_01m7yx4b000000000000000065",
     "cardAccountId": "acc_01m7yx4b000000000000000037",
     "maskedNumber": "999912XXXXXX1234",
     "expiryMonth": "04",
     "expiryYear": "2027",
     "email": "",
     "mobile": "",
     "title": "",
     "firstName": "Ravi",
     "lastName": "",
     "gender": "",
     "specialDate": "",
     "address": "",
     "address2": "",
     "city": "",
     "state": "",
     "country": "",
     "pincode": "",
     "deliveryAddress": "",
     "deliveryAddress2": "",
     "deliveryCity": "",
     "deliveryState": "",
     "deliveryCountry": "",
     "deliveryPincode": "",
     "pan": "",
     "primaryCard": true,
     "prepaidCard": true,
     "physicalCard": true,
     "cardStatus": {
      "name": "UL",
      "label": "UnLocked"
     },
     "kycStatus": {
      "name": "NOT_UPLOADED",
      "label": "Not Uploaded"
     },
     "physicalCardRequestDate": "Apr 1, 2026 3:04:05 PM",
     "physicalDeliveryAddressFlag": false,
     "cardActivated": true,
     "deleted": false,
     "otbBalance": 500,
     "accountBalance": 500,
     "loadAmount": "500",
     "lastAllocatedAmount": 500,
     "svcCardTxnId": "trf_01m7yx4b000000000000000066",
     "usedMtd": 0,
     "usedDtd": 0,
     "usedYtd": 0,
     "usedLtd": 0,
     "limitAllocatedLtd": 500,
     "surchargeAmt": 0,
     "holdBalance": 0,
     "unAllocateHoldBalance": 0,
     "physicalCardAllowed": true,
     "panValidated": false,
     "posAllowed": true,
     "posAllowedAdmin": true,
     "atmAllowed": false,
     "atmAllowedAdmin": false,
     "onlineAllowed": true,
     "onlineAllowedAdmin": true,
     "unallocateFundAllowed": false,
     "tncUnAllocateAllowed": false,
     "tncUnAllocateAccepted": false,
     "closedLoopCard": false,
     "useAccountFunds": false,
     "useParentFundAllowed": false,
     "companyId": "com_01m7yx4b000000000000000036",
     "companyName": "Acme Industries Private Limited",
     "accountType": {
      "name": "GIFT",
      "label": "Gift",
      "description": "Gift card, loaded once"
     },
     "binType": {
      "name": "GIFT",
      "label": "Gift"
     },
     "kitType": {
      "name": "PHYSICAL",
      "label": "Physical"
     },
     "cardProgramme": "Test programme",
     "token": "crd_01m7yx4b000000000000000067",
     "blockCode": "",
     "remarks": "",
     "createdOn": "Apr 1, 2026 3:04:05 PM",
     "modifiedOn": "Apr 1, 2026 3:04:05 PM",
     "liveImage": false,
     "cKycEnabled": false,
     "minKycOtpVerified": false,
     "vKycAllowed": false,
     "latestTnCVersionAccepted": false,
     "latestKeyFactAccepted": false,
     "latestTnCVersionAcceptedForPrimaryCard": false,
     "latestKeyFactAcceptedCardForPrimaryCard": false,
     "partnerLogo": "",
     "extEntityId": "",
     "switchProvider": "",
     "tncVersionMasterId": "",
     "tncUrl": "",
     "virtualAccountNumber": "",
     "defaultCardImage": "",
     "svcSupportEmail": "",
     "svcSupportMobile": "",
     "cardKitMasterId": 0
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000068",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "invalid_transition",
   "summary": "It is blocked for good",
   "request": {
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000064"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "body": {}
   },
   "status": 409,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_transition\",\"error_description\":\"The card is BL and cannot become UL; that state is final\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000069",
     "errorType": "CONFLICT_ERROR",
     "errorMessage": "{\"error\":\"invalid_transition\",\"error_description\":\"The card is BL and cannot become UL; that state is final\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "listCardChanges": [
  {
   "name": "success",
   "summary": "Who changed what, and why",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    },
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    },
    "query": {
     "limit": "2"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "recordsCount": 2,
     "data": [
      {
       "changeId": "chg_01m7yx4b000000000000000070",
       "field": "onlineAllowed",
       "from": "true",
       "to": "false",
       "actor": "partner",
       "reason": "",
       "createdOn": "2026-04-01T15:04:05.123+05:30"
      },
      {
       "changeId": "chg_01m7yx4b000000000000000071",
       "field": "cardStatus",
       "from": "L",
       "to": "UL",
       "actor": "partner",
       "reason": "",
       "createdOn": "2026-04-01T15:04:05.123+05:30"
      }
     ],
     "next": "MTc3NTAzOTY0NTEyMyBxcl8wMW03…"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000072",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "card_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "svcCardId": "card_nothing"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000035"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"card_not_found\",\"error_description\":\"Card not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000073",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"card_not_found\",\"error_description\":\"Card not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "bulkIssueGiftCards": [
  {
   "name": "success",
   "summary": "Two orders",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000051",
     "content-type": "application/x-ndjson"
    },
    "body": "eyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoia2V5XzEifQ.ZUVjZnlw…\neyJhbGciOiJBMjU2S1ciLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoia2V5XzEifQ.ZUVjZnlw…"
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "jobId": "blk_01m7yx4b000000000000000074",
     "rows": 2,
     "status": "QUEUED"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000075",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "validation_failed",
   "summary": "Nothing in it",
   "request": {
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000051",
     "content-type": "application/x-ndjson"
    },
    "body": " "
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"The body must have at least one line\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000076",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"The body must have at least one line\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "getBulkJob": [
  {
   "name": "success",
   "summary": "How far it is",
   "request": {
    "params": {
     "jobId": "blk_01m7yx4b000000000000000074"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000051"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "jobId": "blk_01m7yx4b000000000000000074",
     "status": "DONE",
     "rows": 2,
     "done": 2,
     "issued": 2,
     "failed": 0,
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000077",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "bulk_job_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "jobId": "blk_nothing"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000051"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"bulk_job_not_found\",\"error_description\":\"Bulk job not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000078",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"bulk_job_not_found\",\"error_description\":\"Bulk job not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "listBulkResults": [
  {
   "name": "success",
   "summary": "What became of each order",
   "request": {
    "params": {
     "jobId": "blk_01m7yx4b000000000000000074"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000051"
    },
    "query": {
     "limit": "10"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "recordsCount": 2,
     "data": [
      {
       "row": 1,
       "status": "ISSUED",
       "svcCardId": "card_01m7yx4b000000000000000054"
      },
      {
       "row": 2,
       "status": "ISSUED",
       "svcCardId": "card_01m7yx4b000000000000000056"
      }
     ]
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000079",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "bulk_job_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "jobId": "blk_nothing"
    },
    "headers": {
     "partnerId": "par_01m7yx4b000000000000000051"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"bulk_job_not_found\",\"error_description\":\"Bulk job not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000080",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"bulk_job_not_found\",\"error_description\":\"Bulk job not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "sandboxSpend": [
  {
   "name": "success",
   "summary": "At a shop",
   "request": {
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    },
    "body": {
     "amount": 120.5,
     "channel": "pos",
     "merchantName": "Corner Shop"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "transactionId": "trf_01m7yx4b000000000000000081",
     "svcCardId": "card_01m7yx4b000000000000000038",
     "amount": 120.5,
     "channel": "pos",
     "merchantName": "Corner Shop",
     "otbBalance": 379.5,
     "createdOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "insufficient_funds",
   "summary": "More than the card holds",
   "request": {
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    },
    "body": {
     "amount": 9000,
     "channel": "pos",
     "merchantName": "Corner Shop"
    }
   },
   "status": 422,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"insufficient_funds\",\"error_description\":\"The card has too little left for this amount\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000082",
     "errorType": "BUSINESS_ERROR",
     "errorMessage": "{\"error\":\"insufficient_funds\",\"error_description\":\"The card has too little left for this amount\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  },
  {
   "name": "channel_not_allowed",
   "summary": "Switched off by the holder",
   "request": {
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    },
    "body": {
     "amount": 120.5,
     "channel": "online",
     "merchantName": "Corner Shop"
    }
   },
   "status": 422,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"channel_not_allowed\",\"error_description\":\"The card may not be used in this channel\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000083",
     "errorType": "BUSINESS_ERROR",
     "errorMessage": "{\"error\":\"channel_not_allowed\",\"error_description\":\"The card may not be used in this channel\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "sandboxRefund": [
  {
   "name": "success",
   "summary": "The shop gives money back",
   "request": {
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    },
    "body": {
     "amount": 20.5
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "code": 0,
    "message": "Success",
    "payload": {
     "transactionId": "trf_01m7yx4b000000000000000084",
     "svcCardId": "card_01m7yx4b000000000000000038",
     "amount": 20.5,
     "otbBalance": 400,
     "createdOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "refund_over_spent",
   "summary": "More than was spent",
   "request": {
    "params": {
     "svcCardId": "card_01m7yx4b000000000000000038"
    },
    "body": {
     "amount": 500
    }
   },
   "status": 422,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"refund_over_spent\",\"error_description\":\"At most 100.00 rupees were spent and not refunded yet\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000085",
     "errorType": "BUSINESS_ERROR",
     "errorMessage": "{\"error\":\"refund_over_spent\",\"error_description\":\"At most 100.00 rupees were spent and not refunded yet\"}"
    },
    "response_code": 1,
    "response_message": "Failure",
    "code": 1,
    "message": "Failure"
   }
  }
 ],
 "createCoinConfig": [
  {
   "name": "success",
   "summary": "What an event earns",
   "request": {
    "body": {
     "event": "referral.completed",
     "amount": 100,
     "title": "Thank you",
     "perUserDailyLimit": 250,
     "coinsExpireAfterDays": 365
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086",
     "configuration": "DEFAULT",
     "event": "referral.completed",
     "amount": 100,
     "title": "Thank you",
     "status": "ACTIVE",
     "validFrom": "2026-04-01T15:04:05.123+05:30",
     "perUserDailyLimit": 250,
     "coinsExpireAfterDays": 365,
     "revision": 1,
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000087",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "coin_config_overlaps",
   "summary": "The event has an active one",
   "request": {
    "body": {
     "event": "referral.completed",
     "amount": 100,
     "title": "Thank you",
     "perUserDailyLimit": 250,
     "coinsExpireAfterDays": 365
    }
   },
   "status": 409,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"coin_config_overlaps\",\"error_description\":\"ccf_01m7yx4b000000000000000086 is active for this event at the same time: end or deactivate it first\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000088",
     "errorType": "CONFLICT_ERROR",
     "errorMessage": "{\"error\":\"coin_config_overlaps\",\"error_description\":\"ccf_01m7yx4b000000000000000086 is active for this event at the same time: end or deactivate it first\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "getCoinConfig": [
  {
   "name": "success",
   "summary": "One configuration",
   "request": {
    "params": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086",
     "configuration": "DEFAULT",
     "event": "referral.completed",
     "amount": 100,
     "title": "Thank you",
     "status": "ACTIVE",
     "validFrom": "2026-04-01T15:04:05.123+05:30",
     "perUserDailyLimit": 250,
     "coinsExpireAfterDays": 365,
     "revision": 1,
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000089",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "coin_config_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "coinConfigId": "ccf_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"coin_config_not_found\",\"error_description\":\"Coin configuration not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000090",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"coin_config_not_found\",\"error_description\":\"Coin configuration not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "invalid_token",
   "summary": "A merchant’s token",
   "request": {
    "params": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086"
    }
   },
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000091",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "updateCoinConfig": [
  {
   "name": "success",
   "summary": "More coins from now on",
   "request": {
    "params": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086"
    },
    "headers": {
     "If-Match": "\"1\""
    },
    "body": {
     "amount": 120
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086",
     "configuration": "DEFAULT",
     "event": "referral.completed",
     "amount": 120,
     "title": "Thank you",
     "status": "ACTIVE",
     "validFrom": "2026-04-01T15:04:05.123+05:30",
     "perUserDailyLimit": 250,
     "coinsExpireAfterDays": 365,
     "revision": 2,
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000092",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "revision_mismatch",
   "summary": "Somebody changed it meanwhile",
   "request": {
    "params": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086"
    },
    "headers": {
     "If-Match": "\"1\""
    },
    "body": {
     "amount": 120
    }
   },
   "status": 412,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"revision_mismatch\",\"error_description\":\"The configuration has changed since this revision\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000093",
     "errorType": "CONFLICT_ERROR",
     "errorMessage": "{\"error\":\"revision_mismatch\",\"error_description\":\"The configuration has changed since this revision\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "revision_required",
   "summary": "Without If-Match",
   "request": {
    "params": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086"
    },
    "body": {
     "amount": 130
    }
   },
   "status": 428,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"revision_required\",\"error_description\":\"The If-Match header is required\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000094",
     "errorType": "CONFLICT_ERROR",
     "errorMessage": "{\"error\":\"revision_required\",\"error_description\":\"The If-Match header is required\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "searchCoinConfigs": [
  {
   "name": "success",
   "summary": "Active ones",
   "request": {
    "body": {
     "status": "ACTIVE",
     "event": "referral.completed"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "recordsCount": 1,
     "data": [
      {
       "coinConfigId": "ccf_01m7yx4b000000000000000086",
       "configuration": "DEFAULT",
       "event": "referral.completed",
       "amount": 120,
       "title": "Thank you",
       "status": "ACTIVE",
       "validFrom": "2026-04-01T15:04:05.123+05:30",
       "perUserDailyLimit": 250,
       "coinsExpireAfterDays": 365,
       "revision": 2,
       "createdOn": "2026-04-01T15:04:05.123+05:30",
       "modifiedOn": "2026-04-01T15:04:05.123+05:30"
      }
     ]
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000095",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "validation_failed",
   "summary": "A status that does not exist",
   "request": {
    "body": {
     "status": "ON"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"status must be one of ACTIVE, INACTIVE\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000096",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"status must be one of ACTIVE, INACTIVE\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "listCoinConfigRevisions": [
  {
   "name": "success",
   "summary": "What it said before",
   "request": {
    "params": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "recordsCount": 2,
     "data": [
      {
       "coinConfigId": "ccf_01m7yx4b000000000000000086",
       "configuration": "DEFAULT",
       "event": "referral.completed",
       "amount": 120,
       "title": "Thank you",
       "status": "ACTIVE",
       "validFrom": "2026-04-01T15:04:05.123+05:30",
       "perUserDailyLimit": 250,
       "coinsExpireAfterDays": 365,
       "revision": 2,
       "createdOn": "2026-04-01T15:04:05.123+05:30",
       "modifiedOn": "2026-04-01T15:04:05.123+05:30"
      },
      {
       "coinConfigId": "ccf_01m7yx4b000000000000000086",
       "configuration": "DEFAULT",
       "event": "referral.completed",
       "amount": 100,
       "title": "Thank you",
       "status": "ACTIVE",
       "validFrom": "2026-04-01T15:04:05.123+05:30",
       "perUserDailyLimit": 250,
       "coinsExpireAfterDays": 365,
       "revision": 1,
       "createdOn": "2026-04-01T15:04:05.123+05:30",
       "modifiedOn": "2026-04-01T15:04:05.123+05:30"
      }
     ]
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000097",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "coin_config_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "coinConfigId": "ccf_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"coin_config_not_found\",\"error_description\":\"Coin configuration not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000098",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"coin_config_not_found\",\"error_description\":\"Coin configuration not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "allocateCoins": [
  {
   "name": "success",
   "summary": "An event happened",
   "request": {
    "body": {
     "requestId": "referral-77",
     "event": "referral.completed",
     "userId": "usr_01m7yx4b000000000000000099",
     "companyId": "com_01m7yx4b000000000000000036"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "outcome": "ALLOCATED",
     "allocationId": "cal_01m7yx4b000000000000000100",
     "requestId": "referral-77",
     "userId": "usr_01m7yx4b000000000000000099",
     "companyId": "com_01m7yx4b000000000000000036",
     "event": "referral.completed",
     "coinConfigId": "ccf_01m7yx4b000000000000000086",
     "revision": 2,
     "amount": 120,
     "balance": 120,
     "occurredOn": "2026-04-01T15:04:05.123+05:30",
     "expiresOn": "2026-04-01T15:04:05.123+05:30",
     "createdOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000101",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "no_coin_config",
   "summary": "Nothing is set for the event",
   "request": {
    "body": {
     "requestId": "r-2",
     "event": "unknown.event",
     "userId": "usr_01m7yx4b000000000000000099",
     "companyId": "com_01m7yx4b000000000000000036"
    }
   },
   "status": 422,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"no_coin_config\",\"error_description\":\"No active configuration covers this event at that time\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000102",
     "errorType": "BUSINESS_ERROR",
     "errorMessage": "{\"error\":\"no_coin_config\",\"error_description\":\"No active configuration covers this event at that time\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "request_id_conflict",
   "summary": "The id of another request",
   "request": {
    "body": {
     "requestId": "referral-77",
     "event": "other.event",
     "userId": "usr_01m7yx4b000000000000000099",
     "companyId": "com_01m7yx4b000000000000000036"
    }
   },
   "status": 409,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"request_id_conflict\",\"error_description\":\"This requestId was used with another request\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000103",
     "errorType": "CONFLICT_ERROR",
     "errorMessage": "{\"error\":\"request_id_conflict\",\"error_description\":\"This requestId was used with another request\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "redeemCoins": [
  {
   "name": "success",
   "summary": "The user spends coins",
   "request": {
    "body": {
     "requestId": "voucher-9",
     "userId": "usr_01m7yx4b000000000000000099",
     "amount": 50
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "redemptionId": "cre_01m7yx4b000000000000000104",
     "requestId": "voucher-9",
     "userId": "usr_01m7yx4b000000000000000099",
     "amount": 50,
     "balance": 70,
     "createdOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000105",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "insufficient_coins",
   "summary": "More than the user has",
   "request": {
    "body": {
     "requestId": "voucher-10",
     "userId": "usr_01m7yx4b000000000000000099",
     "amount": 5000
    }
   },
   "status": 422,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"insufficient_coins\",\"error_description\":\"Insufficient coins\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000106",
     "errorType": "BUSINESS_ERROR",
     "errorMessage": "{\"error\":\"insufficient_coins\",\"error_description\":\"Insufficient coins\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "getCoinBalance": [
  {
   "name": "success",
   "summary": "What a user has",
   "request": {
    "params": {
     "userId": "usr_01m7yx4b000000000000000099"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "userId": "usr_01m7yx4b000000000000000099",
     "active": 70,
     "pending": 0,
     "expired": 0,
     "spent": 50
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000107",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "user_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "userId": "usr_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"user_not_found\",\"error_description\":\"User not found in the company\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000108",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"user_not_found\",\"error_description\":\"User not found in the company\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "listCoinHistory": [
  {
   "name": "success",
   "summary": "What a user earned and spent",
   "request": {
    "params": {
     "userId": "usr_01m7yx4b000000000000000099"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "recordsCount": 2,
     "data": [
      {
       "entry": 2,
       "kind": "REDEEMED",
       "amount": 50,
       "balance": 70,
       "createdOn": "2026-04-01T15:04:05.123+05:30",
       "requestId": "voucher-9",
       "redemptionId": "cre_01m7yx4b000000000000000104",
       "allocations": [
        {
         "allocationId": "cal_01m7yx4b000000000000000100",
         "amount": 50
        }
       ]
      },
      {
       "entry": 1,
       "kind": "ALLOCATED",
       "amount": 120,
       "balance": 120,
       "createdOn": "2026-04-01T15:04:05.123+05:30",
       "requestId": "referral-77",
       "allocationId": "cal_01m7yx4b000000000000000100",
       "event": "referral.completed",
       "coinConfigId": "ccf_01m7yx4b000000000000000086",
       "revision": 2,
       "expiresOn": "2026-04-01T15:04:05.123+05:30"
      }
     ]
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000109",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "user_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "userId": "usr_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"user_not_found\",\"error_description\":\"User not found in the company\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000110",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"user_not_found\",\"error_description\":\"User not found in the company\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "deactivateCoinConfig": [
  {
   "name": "success",
   "summary": "No more coins for it",
   "request": {
    "params": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086"
    },
    "body": {}
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "coinConfigId": "ccf_01m7yx4b000000000000000086",
     "configuration": "DEFAULT",
     "event": "referral.completed",
     "amount": 120,
     "title": "Thank you",
     "status": "INACTIVE",
     "validFrom": "2026-04-01T15:04:05.123+05:30",
     "perUserDailyLimit": 250,
     "coinsExpireAfterDays": 365,
     "revision": 3,
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000111",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "coin_config_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "coinConfigId": "ccf_nothing"
    },
    "body": {}
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"coin_config_not_found\",\"error_description\":\"Coin configuration not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000112",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"coin_config_not_found\",\"error_description\":\"Coin configuration not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "createWebhookEndpoint": [
  {
   "name": "success",
   "summary": "The secret is shown once",
   "request": {
    "body": {
     "url": "http://127.0.0.1:3000/hook",
     "types": [
      "qr_code.created",
      "qr_code.cancelled"
     ]
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "endpointId": "whe_01m7yx4b000000000000000113",
     "url": "http://127.0.0.1:3000/hook",
     "description": "",
     "types": [
      "qr_code.created",
      "qr_code.cancelled"
     ],
     "enabled": true,
     "headerNames": [],
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30",
     "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000114",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "webhook_url_refused",
   "summary": "An address that is no web address",
   "request": {
    "body": {
     "url": "ftp://shop.example.com/hook"
    }
   },
   "status": 422,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"webhook_url_refused\",\"error_description\":\"url: must begin with https://\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000115",
     "errorType": "BUSINESS_ERROR",
     "errorMessage": "{\"error\":\"webhook_url_refused\",\"error_description\":\"url: must begin with https://\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "listEvents": [
  {
   "name": "success",
   "summary": "From the first one on",
   "request": {
    "query": {
     "after": "0",
     "limit": "10"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "recordsCount": 1,
     "data": [
      {
       "id": "evt_01m7yx4b000000000000000116",
       "sequence": 1,
       "type": "qr_code.created",
       "createdOn": "2026-04-01T15:04:05.123+05:30",
       "data": {
        "qrName": "Order 1042",
        "status": "ACTIVE",
        "qrCodeId": "qr_01m7yx4b000000000000000117",
        "createdOn": "2026-04-01T15:04:05.123+05:30",
        "modifiedOn": "2026-04-01T15:04:05.123+05:30",
        "fixedAmount": false,
        "multipleUse": false
       }
      }
     ],
     "next": 1,
     "more": false
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000118",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "validation_failed",
   "summary": "A place that is no number",
   "request": {
    "query": {
     "after": "qr_01m7yx4b000000000000000117"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"after must be a sequence number or latest\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000119",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"after must be a sequence number or latest\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "listWebhookEndpoints": [
  {
   "name": "success",
   "summary": "All of them",
   "request": {},
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "recordsCount": 1,
     "data": [
      {
       "endpointId": "whe_01m7yx4b000000000000000113",
       "url": "http://127.0.0.1:3000/hook",
       "description": "",
       "types": [
        "qr_code.created",
        "qr_code.cancelled"
       ],
       "enabled": true,
       "headerNames": [],
       "createdOn": "2026-04-01T15:04:05.123+05:30",
       "modifiedOn": "2026-04-01T15:04:05.123+05:30"
      }
     ]
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000120",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "getWebhookEndpoint": [
  {
   "name": "success",
   "summary": "One of them",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "endpointId": "whe_01m7yx4b000000000000000113",
     "url": "http://127.0.0.1:3000/hook",
     "description": "",
     "types": [
      "qr_code.created",
      "qr_code.cancelled"
     ],
     "enabled": true,
     "headerNames": [],
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000121",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "webhook_endpoint_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "endpointId": "whe_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000122",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "listWebhookAttempts": [
  {
   "name": "success",
   "summary": "What was sent and answered",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    },
    "query": {
     "limit": "10"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "recordsCount": 1,
     "data": [
      {
       "attemptId": "wha_01m7yx4b000000000000000123",
       "eventId": "evt_01m7yx4b000000000000000116",
       "sequence": 1,
       "attempt": 1,
       "url": "http://127.0.0.1:3000/hook",
       "startedOn": "2026-04-01T15:04:05.123+05:30",
       "durationMs": 12,
       "delivered": true,
       "status": 204,
       "responseExcerpt": ""
      }
     ]
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000124",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "webhook_endpoint_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "endpointId": "whe_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000125",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "resendWebhookEvent": [
  {
   "name": "success",
   "summary": "One event again",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    },
    "body": {
     "eventId": "evt_01m7yx4b000000000000000116"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "queued": 1
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000126",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "event_not_found",
   "summary": "No such event",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    },
    "body": {
     "eventId": "evt_nothing"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"event_not_found\",\"error_description\":\"Event not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000127",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"event_not_found\",\"error_description\":\"Event not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "replayWebhookEvents": [
  {
   "name": "success",
   "summary": "A day again",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    },
    "body": {
     "from": "2026-01-01T00:00:00+05:30",
     "to": "2026-01-02T00:00:00+05:30"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "queued": 0,
     "next": 0,
     "more": false
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000128",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "webhook_endpoint_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "endpointId": "whe_nothing"
    },
    "body": {
     "from": "2026-01-01T00:00:00+05:30",
     "to": "2026-01-02T00:00:00+05:30"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000129",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "rotateWebhookSecret": [
  {
   "name": "success",
   "summary": "Both secrets sign for an hour",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    },
    "body": {
     "graceSeconds": 3600
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "endpointId": "whe_01m7yx4b000000000000000113",
     "url": "http://127.0.0.1:3000/hook",
     "description": "",
     "types": [
      "qr_code.created",
      "qr_code.cancelled"
     ],
     "enabled": true,
     "headerNames": [],
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30",
     "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000130",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "webhook_endpoint_not_found",
   "summary": "Not there, or not yours",
   "request": {
    "params": {
     "endpointId": "whe_nothing"
    },
    "body": {}
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000131",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "updateWebhookEndpoint": [
  {
   "name": "success",
   "summary": "Switched off",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    },
    "body": {
     "enabled": false
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "endpointId": "whe_01m7yx4b000000000000000113",
     "url": "http://127.0.0.1:3000/hook",
     "description": "",
     "types": [
      "qr_code.created",
      "qr_code.cancelled"
     ],
     "enabled": false,
     "headerNames": [],
     "createdOn": "2026-04-01T15:04:05.123+05:30",
     "modifiedOn": "2026-04-01T15:04:05.123+05:30"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000132",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "webhook_url_refused",
   "summary": "A host inside your network",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    },
    "body": {
     "url": "https://10.0.0.8/hook"
    }
   },
   "status": 422,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"webhook_url_refused\",\"error_description\":\"url: its address is not public\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000133",
     "errorType": "BUSINESS_ERROR",
     "errorMessage": "{\"error\":\"webhook_url_refused\",\"error_description\":\"url: its address is not public\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "deleteWebhookEndpoint": [
  {
   "name": "success",
   "summary": "It is sent nothing more",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    }
   },
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "response_code": 0,
    "response_message": "Success",
    "payload": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    }
   }
  },
  {
   "name": "invalid_token",
   "summary": "Without credentials",
   "request": {},
   "status": 401,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000134",
     "errorType": "SYSTEM_ERROR",
     "errorMessage": "{\"error\":\"invalid_token\",\"error_description\":\"Invalid access token\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  },
  {
   "name": "webhook_endpoint_not_found",
   "summary": "It is gone already",
   "request": {
    "params": {
     "endpointId": "whe_01m7yx4b000000000000000113"
    }
   },
   "status": 404,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000135",
     "errorType": "NOT_FOUND_ERROR",
     "errorMessage": "{\"error\":\"webhook_endpoint_not_found\",\"error_description\":\"Webhook endpoint not found\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "publishedWebhookKeys": [
  {
   "name": "success",
   "summary": "Keys of `v1a` signatures",
   "request": {},
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "keys": [
     {
      "kid": "key_1",
      "kty": "OKP",
      "crv": "Ed25519",
      "use": "sig",
      "alg": "EdDSA",
      "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      "key": "whpk_f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU="
     }
    ]
   }
  },
  {
   "name": "validation_failed",
   "summary": "A parameter that does not exist",
   "request": {
    "query": {
     "verbose": "true"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000136",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "livez": [
  {
   "name": "success",
   "summary": "The process runs",
   "request": {},
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "status": "ok"
   }
  },
  {
   "name": "validation_failed",
   "summary": "A parameter that does not exist",
   "request": {
    "query": {
     "verbose": "true"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000137",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "readyz": [
  {
   "name": "success",
   "summary": "Requests may be sent here",
   "request": {},
   "status": 200,
   "mediaType": "application/json",
   "response": {
    "status": "ready"
   }
  },
  {
   "name": "validation_failed",
   "summary": "A parameter that does not exist",
   "request": {
    "query": {
     "verbose": "true"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000138",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "streamEvents": [
  {
   "name": "validation_failed",
   "summary": "A place that is no number",
   "request": {
    "query": {
     "after": "first"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"after must be a sequence number or latest\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000139",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"after must be a sequence number or latest\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ],
 "metrics": [
  {
   "name": "validation_failed",
   "summary": "A parameter that does not exist",
   "request": {
    "query": {
     "verbose": "true"
    }
   },
   "status": 400,
   "mediaType": "application/json",
   "response": {
    "payload": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}",
    "errorResponse": {
     "timestamp": "2026-04-01 15:04:05",
     "requestId": "req_01m7yx4b000000000000000140",
     "errorType": "VALIDATION_ERROR",
     "errorMessage": "{\"error\":\"validation_failed\",\"error_description\":\"verbose is not a known field\"}"
    },
    "response_code": 1,
    "response_message": "Failure"
   }
  }
 ]
}
